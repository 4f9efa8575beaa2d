import CImageLibraries
import ImagePipeline
import SystemModule

/// libheif's interface of version 1, by the names that its versions from 1.3 on have.
struct HEIFLibrary: @unchecked Sendable {
  private typealias Pointer = UnsafeMutableRawPointer

  static let shared = SystemLibrary.open("libheif", versions: [1]).flatMap { try? HEIFLibrary($0) }

  let version: String
  let decodesHEVC: Bool
  let decodesAV1: Bool
  private let allocate: @convention(c) () -> Pointer?
  private let free: @convention(c) (Pointer?) -> Void
  private let read: cheif_read_function
  private let primary: cheif_primary_function
  private let releaseHandle: @convention(c) (Pointer?) -> Void
  private let decode: cheif_decode_function
  private let releaseImage: @convention(c) (Pointer?) -> Void
  private let startOfPlane:
    @convention(c) (Pointer?, Int32, UnsafeMutablePointer<Int32>?) -> UnsafePointer<UInt8>?
  private let width: @convention(c) (Pointer?, Int32) -> Int32
  private let height: @convention(c) (Pointer?, Int32) -> Int32
  /// Since version 1.6; without them AVIF is as libheif makes it.
  private let colorsOfImage: cheif_nclx_function?
  private let colorsOfHandle: cheif_nclx_function?
  private let freeColors: (@convention(c) (Pointer?) -> Void)?

  init(_ library: DynamicLibrary) throws {
    let version: @convention(c) () -> UnsafePointer<CChar>? = try library.required("heif_get_version")
    let decodes: @convention(c) (Int32) -> Int32 = try library.required("heif_have_decoder_for_format")
    allocate = try library.required("heif_context_alloc")
    free = try library.required("heif_context_free")
    read = try library.required("heif_context_read_from_memory_without_copy")
    primary = try library.required("heif_context_get_primary_image_handle")
    releaseHandle = try library.required("heif_image_handle_release")
    decode = try library.required("heif_decode_image")
    releaseImage = try library.required("heif_image_release")
    startOfPlane = try library.required("heif_image_get_plane_readonly")
    width = try library.required("heif_image_get_width")
    height = try library.required("heif_image_get_height")
    colorsOfImage = library.function("heif_image_get_nclx_color_profile")
    colorsOfHandle = library.function("heif_image_handle_get_nclx_color_profile")
    freeColors = library.function("heif_nclx_color_profile_free")
    // Loads the decoders that are plug-ins; without it in older versions there are none.
    let initialize: (@convention(c) (Pointer?) -> cheif_error)? = library.function("heif_init")
    _ = initialize?(nil)
    self.version = version().map { String(cString: $0) } ?? "of an unknown version"
    (decodesHEVC, decodesAV1) = (decodes(1) != 0, decodes(4) != 0)
  }

  /// The pixels of the primary image, turned as the file says.
  func pixels(_ bytes: UnsafeRawBufferPointer, limits: DecodingLimits) throws(DermaFusionError) -> PixelImage
  {
    guard let context = allocate() else { throw .outOfMemory(.heif) }
    defer { free(context) }
    try check(read(context, bytes.baseAddress, bytes.count, nil))
    var handle: Pointer?
    try check(primary(context, &handle))
    defer { releaseHandle(handle) }
    let file = try HEIFFile(bytes)
    if file.isMonochromeAVIF, let image = try greyPixels(handle, limits: limits) { return image }
    if file.isSubsampledAVIF, let image = try subsampledPixels(handle, limits: limits) {
      return image
    }
    var image: Pointer?
    let (rgb, interleavedRGB): (Int32, Int32) = (1, 10)
    try check(decode(handle, &image, rgb, interleavedRGB, nil))
    defer { releaseImage(image) }
    let plane = try plane(interleavedRGB, of: image, bytesPerPixel: 3, limits)
    return PixelImage(width: plane.width, height: plane.height) { pixels in
      for y in 0..<plane.height {
        (pixels + y * plane.width * 3).update(from: plane.start + y * plane.stride, count: plane.width * 3)
      }
    }
  }

  private func plane(
    _ channel: Int32, of image: Pointer?, bytesPerPixel: Int = 1, _ limits: DecodingLimits
  ) throws(DermaFusionError) -> AVIFColors.Plane {
    var stride: Int32 = 0
    let (width, height) = (Int(width(image, channel)), Int(height(image, channel)))
    guard let start = startOfPlane(image, channel, &stride), width > 0, height > 0,
      Int(stride) >= width * bytesPerPixel
    else { throw .corrupt(.heif, reason: "libheif gives no pixels") }
    try limits.check(width: width, height: height, part: .whole)
    return AVIFColors.Plane(start: start, width: width, height: height, stride: Int(stride))
  }

  /// The meaning of a decoded image's values; nil where that is not known. Up to version 1.15 only the file says it, and the
  /// values are in the full range whatever it says.
  private func colors(of image: Pointer?, _ handle: Pointer?) -> AVIFColors? {
    if let (matrix, isFullRange) = profile(colorsOfImage, image) {
      return AVIFColors(matrix: matrix, isFullRange: isFullRange)
    }
    return profile(colorsOfHandle, handle).flatMap { AVIFColors(matrix: $0.matrix, isFullRange: true) }
  }

  private func profile(
    _ function: cheif_nclx_function?, _ source: Pointer?
  ) -> (matrix: Int, isFullRange: Bool)? {
    var profile: UnsafeMutablePointer<cheif_nclx>?
    guard let function, let freeColors, function(source, &profile).code == 0, let profile else { return nil }
    defer { freeColors(profile) }
    return (Int(profile.pointee.matrix), profile.pointee.is_full_range != 0)
  }

  /// The pixels of an image without colours whose values are in the limited range, 16...235: libheif takes them as they are.
  ///
  /// - Returns: nil where the values are in the full range, or the file does not say.
  private func greyPixels(_ handle: Pointer?, limits: DecodingLimits) throws(DermaFusionError) -> PixelImage?
  {
    var image: Pointer?
    let (monochrome, luminance): (Int32, Int32) = (2, 0)
    try check(decode(handle, &image, monochrome, 0, nil))
    defer { releaseImage(image) }
    guard let profile = profile(colorsOfImage, image) ?? profile(colorsOfHandle, handle), !profile.isFullRange
    else { return nil }
    let plane = try plane(luminance, of: image, limits)
    return PixelImage(width: plane.width, height: plane.height) { rgb in
      for y in 0..<plane.height {
        for x in 0..<plane.width {
          let value = AVIFColors.fullRange(Int(plane.start[y * plane.stride + x]))
          for channel in 0..<3 { rgb[(y * plane.width + x) * 3 + channel] = value }
        }
      }
    }
  }

  /// The pixels as libavif makes them, which decodes for Pillow: libheif interpolates the colours in another way.
  ///
  /// - Returns: nil where the file does not say what its values mean.
  private func subsampledPixels(
    _ handle: Pointer?, limits: DecodingLimits
  ) throws(DermaFusionError) -> PixelImage? {
    var image: Pointer?
    let (ycbcr, halved): (Int32, Int32) = (0, 1)
    try check(decode(handle, &image, ycbcr, halved, nil))
    defer { releaseImage(image) }
    guard let colors = colors(of: image, handle) else { return nil }
    var planes: [AVIFColors.Plane] = []
    for channel: Int32 in 0..<3 { planes.append(try plane(channel, of: image, limits)) }
    guard
      planes.dropFirst().allSatisfy({
        $0.width == (planes[0].width + 1) / 2 && $0.height == (planes[0].height + 1) / 2
      })
    else { throw .corrupt(.heif, reason: "libheif gives colours of another size") }
    return colors.image(planes)
  }

  /// Without the codes: the messages say enough.
  private func check(_ error: cheif_error) throws(DermaFusionError) {
    let (endOfData, unsupportedKind, unsupportedFeature, memory): (Int32, Int32, Int32, Int32) = (
      100, 3, 4, 6
    )
    if error.code == 0 { return }
    let reason = error.message.map { String(cString: $0).onOneLine } ?? "libheif's error \(error.code)"
    switch error.code {
    case memory: throw .outOfMemory(.heif)
    case unsupportedKind, unsupportedFeature: throw .unsupportedVariant(.heif, reason: reason)
    default:
      if error.subcode == endOfData { throw .truncated(.heif, reason: reason) }
      throw .corrupt(.heif, reason: reason)
    }
  }
}

extension SystemLibrary {
  static let heif: SystemLibrary = SystemLibrary(
    package: Package(name: "libheif", debian: "libheif1", homebrew: "libheif"),
    version: { HEIFLibrary.shared?.version },
    header: { (bytes) throws(DermaFusionError) in
      let file = try HEIFFile(bytes)
      return Header(
        width: file.width, height: file.height, orientation: .upright, bytesPerPixel: 9, facts: file.facts)
    },
    pixels: { (bytes, limits) throws(DermaFusionError) in
      guard let library = HEIFLibrary.shared else { throw heif.package.missing(ImageFormat.heif.name) }
      return try library.pixels(bytes, limits: limits)
    },
    // Newer versions have their decoders in packages of their own.
    missingPart: { kind in
      guard let library = HEIFLibrary.shared else { return nil }
      return switch kind {
      case "avif" where !library.decodesAV1:
        Package(name: "libheif's AV1 decoder", debian: "libheif-plugin-dav1d", homebrew: "libheif")
      case "heic" where !library.decodesHEVC:
        Package(name: "libheif's HEVC decoder", debian: "libheif-plugin-libde265", homebrew: "libheif")
      default: nil
      }
    },
    kind: { HEIFFile.isAVIF($0).map { $0 ? "avif" : "heic" } })
}
