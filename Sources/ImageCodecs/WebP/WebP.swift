import ImagePipeline
import SystemModule

/// libwebp's simple interface, which has not changed since its first version.
struct WebPLibrary: Sendable {
  static let shared = SystemLibrary.open("libwebp", versions: [7]).flatMap { try? WebPLibrary($0) }

  private let measure:
    @convention(c) (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?) ->
      Int32
  private let decode:
    @convention(c) (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int, Int32) ->
      UnsafeMutablePointer<UInt8>?
  let version: String

  init(_ library: DynamicLibrary) throws {
    measure = try library.required("WebPGetInfo")
    decode = try library.required("WebPDecodeRGBInto")
    let version: @convention(c) () -> Int32 = try library.required("WebPGetDecoderVersion")
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
    package: Package(name: "libwebp", debian: "libwebp7", homebrew: "webp"),
    version: { WebPLibrary.shared?.version },
    header: { (bytes) throws(DermaFusionError) in
      let file = try WebPFile(bytes)
      return Header(
        width: file.width, height: file.height, orientation: file.orientation, bytesPerPixel: 5,
        facts: file.facts)
    },
    pixels: { (bytes, _) throws(DermaFusionError) in
      guard let library = WebPLibrary.shared else { throw webp.package.missing(ImageFormat.webp.name) }
      return try library.pixels(bytes, try WebPFile(bytes))
    })
}

/// The chunks of a WebP file, as far as they are needed here.
struct WebPFile {
  let width: Int
  let height: Int
  let orientation: Orientation
  /// The input of libwebp: the file, or an animation's first frame.
  let frame: Range<Int>
  /// The place of the frame in the canvas; nil where it is all of it.
  let place: (x: Int, y: Int, width: Int, height: Int)?
  let facts: FileFacts

  init(_ bytes: UnsafeRawBufferPointer) throws(DermaFusionError) {
    let reader = ByteReader(bytes)
    func integer24(at position: Int) -> Int? {
      guard let low = reader.integer16(at: position), let high = reader.byte(at: position + 2) else {
        return nil
      }
      return low | high << 16
    }
    let data = 20
    var size: (width: Int, height: Int)?
    var (flags, frameStart): (Int, Int?) = (0, nil)
    if reader.holds("VP8 ", at: 12),
      reader.bytes(at: data + 3, count: 3)?.elementsEqual([0x9D, 1, 0x2A]) == true,
      let width = reader.integer16(at: data + 6), let height = reader.integer16(at: data + 8)
    {
      size = (width & 0x3FFF, height & 0x3FFF)
    } else if reader.holds("VP8L", at: 12), reader.byte(at: data) == 0x2F,
      let bits = reader.integer32(at: data + 1)
    {
      size = (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
    } else if reader.holds("VP8X", at: 12), let width = integer24(at: data + 4),
      let height = integer24(at: data + 7), let stated = reader.byte(at: data)
    {
      size = (width + 1, height + 1)
      flags = stated
    }
    guard let size, size.width > 0, size.height > 0 else {
      throw bytes.count < 30
        ? .truncated(.webp, reason: "the data end in the header") : .corrupt(.webp, reason: "it has no size")
    }
    (width, height) = size

    var (exif, xmp): ([UInt8]?, [UInt8]?)
    let (animationFlag, exifFlag, xmpFlag, profileFlag) = (0x02, 0x08, 0x04, 0x20)
    var facts = FileFacts(pictureCount: 0)
    var frame = 0..<bytes.count
    var place: (x: Int, y: Int, width: Int, height: Int)?
    var position = 12
    while flags != 0, let length = reader.integer32(at: position + 4),
      let content = reader.bytes(at: position + 8, count: length)
    {
      if exif == nil, flags & exifFlag != 0, reader.holds("EXIF", at: position) { exif = Array(content) }
      if xmp == nil, flags & xmpFlag != 0, reader.holds("XMP ", at: position) { xmp = Array(content) }
      if facts.profile == nil, flags & profileFlag != 0, reader.holds("ICCP", at: position) {
        facts.profile = ColorProfile.foreignName(icc: content)
      }
      if flags & animationFlag != 0, reader.holds("ANMF", at: position) { facts.pictureCount += 1 }
      if frameStart == nil, flags & animationFlag != 0, reader.holds("ANMF", at: position), length > 16,
        let x = integer24(at: position + 8), let y = integer24(at: position + 11),
        let width = integer24(at: position + 14), let height = integer24(at: position + 17)
      {
        frameStart = position
        frame = position + 24..<position + 8 + length
        place = (2 * x, 2 * y, width + 1, height + 1)
      }
      position += 8 + length + length % 2
    }
    if flags & animationFlag != 0 {
      guard let place else { throw .truncated(.webp, reason: "the data end before the first frame does") }
      guard place.x + place.width <= width, place.y + place.height <= height else {
        throw .corrupt(.webp, reason: "the first frame lies outside of the image")
      }
    }
    self.facts = facts
    self.frame = frame
    self.place = place
    orientation = Orientation(exif: exif, xmp: xmp)
  }
}
