import SystemModule

/// How large an image may be.
package enum PixelLimit {
  /// The most pixels that are decoded: twice 89,478,485, where Pillow refuses too.
  package static let count = 178_956_970

  /// Checks a size from a file's header before anything is allocated for it.
  package static func check(width: Int, height: Int, limit: Int = count) throws(DermaFusionError) {
    let (area, overflows) = width.multipliedReportingOverflow(by: height)
    guard !overflows, area <= limit else {
      throw .tooManyPixels(width: width, height: height, limit: limit)
    }
  }
}
