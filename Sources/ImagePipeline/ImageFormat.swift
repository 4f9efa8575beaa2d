/// The families of image files that can be decoded.
package enum ImageFormat: String, Sendable, CaseIterable {
  /// Portable Network Graphics.
  case png = "PNG"

  /// JPEG (JFIF, Exif, Adobe), baseline or progressive.
  case jpeg = "JPEG"

  /// Netpbm's PBM, PGM and PPM, plain or binary.
  case pnm = "PNM"

  /// Windows and OS/2 bitmaps.
  case bmp = "BMP"

  /// DICOM files (Part 10) with an image.
  case dicom = "DICOM"

  /// WebP, through libwebp.
  case webp = "WebP"

  /// TIFF and BigTIFF, through libtiff.
  case tiff = "TIFF"

  /// HEIC, AVIF and their relatives, through libheif.
  case heif = "HEIF"
}
