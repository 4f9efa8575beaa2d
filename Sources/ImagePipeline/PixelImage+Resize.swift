extension PixelImage {
  /// The image at another size, by Pillow's `resize(size, BILINEAR)`: antialiased when shrinking.
  ///
  /// - Parameters:
  ///   - width: At least 1.
  ///   - height: At least 1.
  package func resized(width: Int, height: Int) -> PixelImage {
    BilinearResizer.resize(
      self, region: BilinearResizer.Region(left: 0, top: 0, width: self.width, height: self.height),
      width: width, height: height)
  }
}
