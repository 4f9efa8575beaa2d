import ImagePipeline
import SystemModule

extension PixelImage {
  /// Copies pixels from memory that a program has them in, with or without bytes after each row.
  ///
  /// - Parameters:
  ///   - bytes: the rows from the top, `bytesPerRow` bytes each; of the last one the pixels suffice.
  ///   - width: the number of columns, at least 1.
  ///   - height: the number of rows, at least 1.
  ///   - bytesPerRow: from the start of one row to that of the next, at least `width` pixels.
  ///   - layout: the order of a pixel's bytes.
  /// - Throws: ``DermaFusionError/Code/invalidImage`` where such an image does not lie in so many bytes, or is too large.
  public init(
    copying bytes: UnsafeRawBufferPointer, width: Int, height: Int, bytesPerRow: Int, layout: Layout
  ) throws(DermaFusionError) {
    try unsafe self.init(
      laidOut: bytes, width: width, height: height, bytesPerRow: bytesPerRow, layout: layout)
  }
}
