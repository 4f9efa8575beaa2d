import CImageLibraries
import ImagePipeline
import SystemModule

/// libopenjp2's interface, which has not changed since its version 2.1.
struct OpenJPEGLibrary: @unchecked Sendable {
  private typealias Pointer = UnsafeMutableRawPointer
  private typealias Release = @convention(c) (Pointer?) -> Void

  static let shared = SystemLibrary.open("libopenjp2", versions: [7]).flatMap { try? OpenJPEGLibrary($0) }

  let version: String
  private let makeCodec: @convention(c) (Int32) -> Pointer?
  private let releaseCodec: Release
  private let setDefaults: Release
  private let setUp: @convention(c) (Pointer?, Pointer?) -> Int32
  private let setHandler: @convention(c) (Pointer?, copj_message_function?, Pointer?) -> Int32
  /// Since version 2.5, where it is the default too: data that end early are an error.
  private let setStrict: (@convention(c) (Pointer?, Int32) -> Int32)?
  private let makeStream: @convention(c) (Int, Int32) -> Pointer?
  private let releaseStream: Release
  private let setUserData: @convention(c) (Pointer?, Pointer?, Release?) -> Void
  private let setUserDataLength: @convention(c) (Pointer?, UInt64) -> Void
  private let setRead: @convention(c) (Pointer?, copj_read_function) -> Void
  private let setSkip: @convention(c) (Pointer?, copj_skip_function) -> Void
  private let setSeek: @convention(c) (Pointer?, copj_seek_function) -> Void
  private let readHeader:
    @convention(c) (Pointer?, Pointer?, UnsafeMutablePointer<UnsafeMutablePointer<copj_image>?>?) -> Int32
  private let decode: @convention(c) (Pointer?, Pointer?, UnsafeMutablePointer<copj_image>?) -> Int32
  private let end: @convention(c) (Pointer?, Pointer?) -> Int32
  private let releaseImage: @convention(c) (UnsafeMutablePointer<copj_image>?) -> Void

  init(_ library: DynamicLibrary) throws {
    let version: @convention(c) () -> UnsafePointer<CChar>? = try library.required("opj_version")
    self.version = version().map { String(cString: $0) } ?? "of an unknown version"
    makeCodec = try library.required("opj_create_decompress")
    releaseCodec = try library.required("opj_destroy_codec")
    setDefaults = try library.required("opj_set_default_decoder_parameters")
    setUp = try library.required("opj_setup_decoder")
    setHandler = try library.required("opj_set_error_handler")
    setStrict = library.function("opj_decoder_set_strict_mode")
    makeStream = try library.required("opj_stream_create")
    releaseStream = try library.required("opj_stream_destroy")
    setUserData = try library.required("opj_stream_set_user_data")
    setUserDataLength = try library.required("opj_stream_set_user_data_length")
    setRead = try library.required("opj_stream_set_read_function")
    setSkip = try library.required("opj_stream_set_skip_function")
    setSeek = try library.required("opj_stream_set_seek_function")
    readHeader = try library.required("opj_read_header")
    decode = try library.required("opj_decode")
    end = try library.required("opj_end_decompress")
    releaseImage = try library.required("opj_image_destroy")
  }

  /// The components of a code stream as red, green and blue, or one as grey, by the high 8 bits of their values.
  func pixels(_ stream: JPEG2000Stream) throws(DermaFusionError) -> PixelImage {
    var report = copj_report()
    var source = copj_source(
      bytes: stream.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: stream.bytes.count,
      position: 0)
    let image = withUnsafeMutablePointer(to: &report) { report in
      withUnsafeMutablePointer(to: &source) { source in decodedImage(source, report) }
    }
    defer { releaseImage(image) }
    guard let image else {
      let reason = String(untilZeroIn: report.message).onOneLine
      throw .corrupt(.jpeg2000, reason: reason.isEmpty ? "libopenjp2 cannot decode it" : reason)
    }
    let (width, height) = (stream.width, stream.height)
    let count = Int(image.pointee.numcomps)
    let components = UnsafeBufferPointer(start: image.pointee.comps, count: count)
    guard count == stream.precisions.count, count != 2,
      components.allSatisfy({ $0.data != nil && Int($0.w) == width && Int($0.h) == height })
    else { throw .corrupt(.jpeg2000, reason: "libopenjp2 gives components of another size or number") }
    return PixelImage(width: width, height: height) { rgb in
      for channel in 0..<3 {
        let place = count == 1 ? 0 : channel
        let (bits, values) = (stream.precisions[place], components[place].data!)
        let most = Int32(1) << bits - 1
        for index in 0..<width * height {
          rgb[index * 3 + channel] = DICOMPixels.level(of: Int(max(0, min(most, values[index]))), bits: bits)
        }
      }
    }
  }

  /// Nil where it cannot be decoded as a whole.
  private func decodedImage(
    _ source: UnsafeMutablePointer<copj_source>, _ report: UnsafeMutablePointer<copj_report>
  ) -> UnsafeMutablePointer<copj_image>? {
    let (codeStream, isInput): (Int32, Int32) = (0, 1)
    guard let codec = makeCodec(codeStream) else { return nil }
    defer { releaseCodec(codec) }
    guard let stream = makeStream(1 << 20, isInput) else { return nil }
    defer { releaseStream(stream) }
    _ = setHandler(codec, copj_keep_error, report)
    // Larger than the library's own struct, whose fields are left as it sets them.
    var parameters = [UInt8](repeating: 0, count: 1 << 15)
    let isReady = parameters.withUnsafeMutableBytes { parameters in
      setDefaults(parameters.baseAddress)
      return setUp(codec, parameters.baseAddress) != 0
    }
    guard isReady else { return nil }
    _ = setStrict?(codec, 1)
    setUserData(stream, source, nil)
    setUserDataLength(stream, UInt64(source.pointee.count))
    setRead(stream, copj_read)
    setSkip(stream, copj_skip)
    setSeek(stream, copj_seek)
    var image: UnsafeMutablePointer<copj_image>?
    guard readHeader(stream, codec, &image) != 0, decode(codec, stream, image) != 0, end(codec, stream) != 0
    else {
      releaseImage(image)
      return nil
    }
    return image
  }
}

extension SystemLibrary {
  static let jpeg2000: SystemLibrary = SystemLibrary(
    package: Package(name: "libopenjp2", debian: "libopenjp2-7", homebrew: "openjpeg"),
    version: { OpenJPEGLibrary.shared?.version },
    header: { (bytes) throws(DermaFusionError) in
      let stream = try JPEG2000Stream(bytes)
      return Header(
        width: stream.width, height: stream.height, orientation: .upright,
        // 32 bits for each sample, in the image and in the tile that is decoded.
        bytesPerPixel: 8 * stream.precisions.count, facts: FileFacts())
    },
    pixels: { (bytes, _) throws(DermaFusionError) in
      guard let library = OpenJPEGLibrary.shared else {
        throw jpeg2000.package.missing(ImageFormat.jpeg2000.name)
      }
      return try library.pixels(try JPEG2000Stream(bytes))
    })
}
