import ImagePipeline
import SystemModule

/// libwebp's simple interface, which has not changed since its first version.
struct WebPLibrary: Sendable {
  typealias Measure =
    @convention(c) (
      UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?
    ) -> Int32
  typealias Decode =
    @convention(c) (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int, Int32)
    -> UnsafeMutablePointer<UInt8>?

  static let shared = SystemLibrary.open("libwebp", versions: [7]).flatMap(WebPLibrary.init)

  private let measure: Measure
  private let decode: Decode
  let version: String

  init?(_ library: DynamicLibrary) {
    guard let measure = library.function("WebPGetInfo", as: Measure.self),
      let decode = library.function("WebPDecodeRGBInto", as: Decode.self),
      let version = library.function("WebPGetDecoderVersion", as: (@convention(c) () -> Int32).self)
    else { return nil }
    self.measure = measure
    self.decode = decode
    let number = version()
    self.version = "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)"
  }

  /// The stored pixels of a file; what an animation's first frame leaves free is black.
  func pixels(_ bytes: UnsafeRawBufferPointer, _ file: WebPFile) throws(DermaFusionError) -> PixelImage {
    let frame = UnsafeRawBufferPointer(rebasing: bytes[file.frame])
    let start = frame.bindMemory(to: UInt8.self).baseAddress
    var (width, height): (Int32, Int32) = (0, 0)
    guard measure(start, frame.count, &width, &height) != 0 else {
      throw .corrupt(.webp, reason: "libwebp cannot read its header")
    }
    let place = file.place ?? (0, 0, file.width, file.height)
    guard Int(width) == place.width, Int(height) == place.height else {
      throw .corrupt(
        .webp, reason: "an image of \(width)x\(height) in a canvas of \(place.width)x\(place.height)")
    }
    let byteCount = file.width * file.height * 3
    let stride = file.width * 3
    let offset = place.y * stride + place.x * 3
    return try PixelImage(width: file.width, height: file.height) { (pixels) throws(DermaFusionError) in
      if file.place != nil { pixels.update(repeating: 0, count: byteCount) }
      guard decode(start, frame.count, pixels + offset, byteCount - offset, Int32(stride)) != nil else {
        throw .corrupt(.webp, reason: "libwebp cannot decode it; it may be truncated")
      }
    }
  }
}

extension SystemLibrary {
  static let webp: SystemLibrary = SystemLibrary(
    format: .webp, package: Package(name: "libwebp", debian: "libwebp7", homebrew: "webp"),
    version: { WebPLibrary.shared?.version },
    header: { (bytes) throws(DermaFusionError) in
      let file = try WebPFile(bytes)
      return Header(width: file.width, height: file.height, orientation: file.orientation, bytesPerPixel: 5)
    },
    pixels: { (bytes, _) throws(DermaFusionError) in
      guard let library = WebPLibrary.shared else { throw webp.package.missing(.webp) }
      return try library.pixels(bytes, try WebPFile(bytes))
    })
}
