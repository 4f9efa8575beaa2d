/// The families of image files that can be decoded.
package enum ImageFormat: String, Sendable, CaseIterable {
  /// Portable Network Graphics.
  case png = "PNG"

  /// JPEG (JFIF, Exif, Adobe), baseline or progressive.
  case jpeg = "JPEG"

  /// Netpbm's PBM, PGM and PPM, plain or binary.
  case pnm = "PNM"
}
