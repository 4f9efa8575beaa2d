import ImagePipeline
import SystemModule

/// libtiff's interface of version 4.
struct TIFFLibrary: @unchecked Sendable {
  typealias Pointer = UnsafeMutableRawPointer
  typealias Transfer = @convention(c) (Pointer?, Pointer?, Int) -> Int
  typealias Seek = @convention(c) (Pointer?, UInt64, Int32) -> UInt64
  typealias Close = @convention(c) (Pointer?) -> Int32
  typealias Measure = @convention(c) (Pointer?) -> UInt64
  typealias Map =
    @convention(c) (Pointer?, UnsafeMutablePointer<Pointer?>?, UnsafeMutablePointer<UInt64>?) -> Int32
  typealias Unmap = @convention(c) (Pointer?, Pointer?, UInt64) -> Void
  typealias Open =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, Pointer?, Transfer, Transfer, Seek, Close, Measure, Map,
      Unmap
    ) -> Pointer?
  typealias OpenWithOptions =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, Pointer?, Transfer, Transfer, Seek, Close, Measure, Map,
      Unmap,
      Pointer?
    ) -> Pointer?
  typealias Size = @convention(c) (Pointer?) -> Int

  static let shared = SystemLibrary.open("libtiff", versions: [6, 5]).flatMap(TIFFLibrary.init)

  let version: String
  let open: Open
  let close: @convention(c) (Pointer?) -> Void
  let setField: Pointer
  let stripSize: Size
  let tileSize: Size
  let scanlineSize: Size
  let tileRowSize: Size
  let computeStrip: @convention(c) (Pointer?, UInt32, UInt16) -> UInt32
  let readStrip: @convention(c) (Pointer?, UInt32, Pointer?, Int) -> Int
  let readTile: @convention(c) (Pointer?, Pointer?, UInt32, UInt32, UInt32, UInt16) -> Int
  let readRGBA:
    @convention(c) (Pointer?, UInt32, UInt32, UnsafeMutablePointer<UInt32>?, Int32, Int32) -> Int32
  /// From version 4.5 on: errors go to the file's own report rather than to the process's standard error.
  let reporting: Reporting?

  struct Reporting {
    let allocate: @convention(c) () -> Pointer?
    let free: @convention(c) (Pointer?) -> Void
    let setErrorHandler: Pointer
    let setWarningHandler: Pointer
    let open: OpenWithOptions

    init?(_ library: DynamicLibrary) {
      guard let allocate = library.function("TIFFOpenOptionsAlloc", as: (@convention(c) () -> Pointer?).self),
        let free = library.function("TIFFOpenOptionsFree", as: (@convention(c) (Pointer?) -> Void).self),
        let setErrorHandler = library.symbol("TIFFOpenOptionsSetErrorHandlerExtR"),
        let setWarningHandler = library.symbol("TIFFOpenOptionsSetWarningHandlerExtR"),
        let open = library.function("TIFFClientOpenExt", as: OpenWithOptions.self)
      else { return nil }
      (self.allocate, self.free, self.open) = (allocate, free, open)
      (self.setErrorHandler, self.setWarningHandler) = (setErrorHandler, setWarningHandler)
    }
  }

  init?(_ library: DynamicLibrary) {
    guard
      let version = library.function("TIFFGetVersion", as: (@convention(c) () -> UnsafePointer<CChar>?).self),
      let open = library.function("TIFFClientOpen", as: Open.self),
      let close = library.function("TIFFClose", as: (@convention(c) (Pointer?) -> Void).self),
      let setField = library.symbol("TIFFSetField"),
      let stripSize = library.function("TIFFStripSize", as: Size.self),
      let tileSize = library.function("TIFFTileSize", as: Size.self),
      let scanlineSize = library.function("TIFFScanlineSize", as: Size.self),
      let tileRowSize = library.function("TIFFTileRowSize", as: Size.self),
      let computeStrip = library.function(
        "TIFFComputeStrip", as: (@convention(c) (Pointer?, UInt32, UInt16) -> UInt32).self),
      let readStrip = library.function(
        "TIFFReadEncodedStrip", as: (@convention(c) (Pointer?, UInt32, Pointer?, Int) -> Int).self),
      let readTile = library.function(
        "TIFFReadTile", as: (@convention(c) (Pointer?, Pointer?, UInt32, UInt32, UInt32, UInt16) -> Int).self),
      let readRGBA = library.function(
        "TIFFReadRGBAImageOriented",
        as: (@convention(c) (Pointer?, UInt32, UInt32, UnsafeMutablePointer<UInt32>?, Int32, Int32) -> Int32)
          .self)
    else { return nil }
    // "LIBTIFF, Version 4.5.0" and lines of copyright.
    let words = version().map { String(cString: $0) } ?? ""
    self.version = String(words.prefix { $0 != "\n" }.split(separator: " ").last ?? "of an unknown version")
    (self.open, self.close, self.setField) = (open, close, setField)
    (self.stripSize, self.tileSize, self.scanlineSize) = (stripSize, tileSize, scanlineSize)
    (self.tileRowSize, self.computeStrip, self.readStrip) = (tileRowSize, computeStrip, readStrip)
    (self.readTile, self.readRGBA) = (readTile, readRGBA)
    reporting = Reporting(library)
    if reporting == nil {
      // Only the whole process can be told to be quiet.
      typealias SetHandler = @convention(c) (Pointer?) -> Pointer?
      for name in ["TIFFSetErrorHandler", "TIFFSetWarningHandler"] {
        _ = library.function(name, as: SetHandler.self)?(nil)
      }
    }
  }
}

extension SystemLibrary {
  static let tiff: SystemLibrary = SystemLibrary(
    format: .tiff, package: Package(name: "libtiff", debian: "libtiff6", homebrew: "libtiff"),
    version: { TIFFLibrary.shared?.version },
    header: { (bytes) throws(DermaFusionError) in
      let layout = try TIFFLayout(try TIFFDirectory(bytes))
      return Header(
        width: layout.width, height: layout.height, orientation: layout.orientation,
        bytesPerPixel: layout.usedSamples + layout.samples * (layout.bits + 7) / 8)
    },
    pixels: { (bytes, limits) throws(DermaFusionError) in
      guard let library = TIFFLibrary.shared else { throw tiff.package.missing(.tiff) }
      let layout = try TIFFLayout(try TIFFDirectory(bytes))
      return try TIFFReader(library, bytes, layout, limits: limits).pixels()
    })
}
