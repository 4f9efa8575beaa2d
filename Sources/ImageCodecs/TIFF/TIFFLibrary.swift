import CImageLibraries
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

  static let shared = SystemLibrary.open("libtiff", versions: [6, 5]).flatMap { try? TIFFLibrary($0) }

  let version: String
  let open: Open
  let close: @convention(c) (Pointer?) -> Void
  let setDirectory: @convention(c) (Pointer?, UInt64) -> Int32
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

    init(_ library: DynamicLibrary) throws {
      allocate = try library.required("TIFFOpenOptionsAlloc")
      free = try library.required("TIFFOpenOptionsFree")
      setErrorHandler = try library.required("TIFFOpenOptionsSetErrorHandlerExtR")
      setWarningHandler = try library.required("TIFFOpenOptionsSetWarningHandlerExtR")
      open = try library.required("TIFFClientOpenExt")
    }
  }

  init(_ library: DynamicLibrary) throws {
    let version: @convention(c) () -> UnsafePointer<CChar>? = try library.required("TIFFGetVersion")
    // "LIBTIFF, Version 4.5.0" and lines of copyright.
    let words = version().map { String(cString: $0) } ?? ""
    self.version = String(words.prefix { $0 != "\n" }.split(separator: " ").last ?? "of an unknown version")
    open = try library.required("TIFFClientOpen")
    close = try library.required("TIFFClose")
    setDirectory = try library.required("TIFFSetSubDirectory")
    setField = try library.required("TIFFSetField")
    stripSize = try library.required("TIFFStripSize")
    tileSize = try library.required("TIFFTileSize")
    scanlineSize = try library.required("TIFFScanlineSize")
    tileRowSize = try library.required("TIFFTileRowSize")
    computeStrip = try library.required("TIFFComputeStrip")
    readStrip = try library.required("TIFFReadEncodedStrip")
    readTile = try library.required("TIFFReadTile")
    readRGBA = try library.required("TIFFReadRGBAImageOriented")
    reporting = try? Reporting(library)
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
    package: Package(name: "libtiff", debian: "libtiff6", homebrew: "libtiff"),
    version: { TIFFLibrary.shared?.version },
    header: { (bytes) throws(DermaFusionError) in
      let layout = try TIFFLayout(try TIFFDirectory(bytes))
      return Header(
        width: layout.width, height: layout.height, orientation: layout.orientation,
        bytesPerPixel: layout.usedSamples + layout.samples * (layout.bits + 7) / 8, facts: layout.facts)
    },
    pixels: { (bytes, limits) throws(DermaFusionError) in
      guard let library = TIFFLibrary.shared else { throw tiff.package.missing(ImageFormat.tiff.name) }
      let layout = try TIFFLayout(try TIFFDirectory(bytes))
      return try TIFFReader(library, bytes, layout, limits: limits).pixels()
    })
}

/// A TIFF file in memory that libtiff has opened, at the directory of its picture.
final class TIFFStream {
  private let library: TIFFLibrary
  private(set) var tiff: TIFFLibrary.Pointer
  private let source: UnsafeMutablePointer<Source>
  private let report: UnsafeMutablePointer<ctiff_report>

  private struct Source {
    let bytes: UnsafeRawBufferPointer
    var position: UInt64
  }

  /// - Parameters:
  ///   - bytes: must outlive the stream.
  ///   - directory: where the picture's directory lies; nil: it is the file's first.
  init(
    _ library: TIFFLibrary, _ bytes: UnsafeRawBufferPointer, directory: Int?
  ) throws(DermaFusionError) {
    self.library = library
    source = .allocate(capacity: 1)
    source.initialize(to: Source(bytes: bytes, position: 0))
    report = .allocate(capacity: 1)
    report.initialize(to: ctiff_report())
    // C: strips stay as they are stored, as in Pillow. m: nothing is mapped.
    let (name, mode) = ("image", "rCm")
    var opened: TIFFLibrary.Pointer?
    if let reporting = library.reporting {
      let options = reporting.allocate()
      ctiff_set_handlers(reporting.setErrorHandler, reporting.setWarningHandler, options, report)
      opened = reporting.open(
        name, mode, source, Self.read, Self.write, Self.seek, Self.close, Self.size, Self.map, Self.unmap,
        options)
      reporting.free(options)
    } else {
      opened = library.open(
        name, mode, source, Self.read, Self.write, Self.seek, Self.close, Self.size, Self.map, Self.unmap)
    }
    guard let opened else {
      let failure = DermaFusionError.corrupt(.tiff, reason: Self.text(report))
      source.deallocate()
      report.deallocate()
      throw failure
    }
    tiff = opened
    if let directory, library.setDirectory(opened, UInt64(directory)) == 0 { throw failure }
  }

  deinit {
    library.close(tiff)
    source.deallocate()
    report.deallocate()
  }

  /// The words of libtiff on its first error.
  var failure: DermaFusionError {
    let reason = Self.text(report)
    if reason.contains("not configured") || reason.contains("not implemented")
      || reason.contains("not support")
    {
      return .unsupportedVariant(.tiff, reason: reason)
    }
    return .corrupt(.tiff, reason: reason)
  }

  private static func text(_ report: UnsafeMutablePointer<ctiff_report>) -> String {
    let text = String(untilZeroIn: report.pointee.message)
    return text.isEmpty ? "libtiff cannot read it" : text.onOneLine
  }

  private static let read: TIFFLibrary.Transfer = { handle, target, count in
    guard let source = handle?.assumingMemoryBound(to: Source.self), let target, count > 0 else { return 0 }
    let bytes = source.pointee.bytes
    guard let position = Int(exactly: source.pointee.position), position < bytes.count else { return 0 }
    let length = min(count, bytes.count - position)
    target.copyMemory(from: bytes.baseAddress! + position, byteCount: length)
    source.pointee.position += UInt64(length)
    return length
  }

  private static let write: TIFFLibrary.Transfer = { _, _, _ in 0 }

  private static let seek: TIFFLibrary.Seek = { handle, offset, origin in
    guard let source = handle?.assumingMemoryBound(to: Source.self) else { return 0 }
    switch origin {
    case 0: source.pointee.position = offset
    case 1: source.pointee.position &+= offset
    default: source.pointee.position = UInt64(source.pointee.bytes.count) &+ offset
    }
    return source.pointee.position
  }

  private static let close: TIFFLibrary.Close = { _ in 0 }

  private static let size: TIFFLibrary.Measure = { handle in
    UInt64(handle?.assumingMemoryBound(to: Source.self).pointee.bytes.count ?? 0)
  }

  private static let map: TIFFLibrary.Map = { _, _, _ in 0 }
  private static let unmap: TIFFLibrary.Unmap = { _, _, _ in }
}

/// Reads the strips or tiles of a TIFF image as Pillow does: plain bytes from the file, all else through libtiff.
struct TIFFReader {
  private let library: TIFFLibrary
  private let bytes: UnsafeRawBufferPointer
  private let layout: TIFFLayout
  private let limits: DecodingLimits
  private let deadline: DecodingDeadline

  init(_ library: TIFFLibrary, _ bytes: UnsafeRawBufferPointer, _ layout: TIFFLayout, limits: DecodingLimits)
  {
    self.library = library
    self.bytes = bytes
    self.layout = layout
    self.limits = limits
    deadline = limits.deadline()
  }

  func pixels() throws(DermaFusionError) -> PixelImage {
    if layout.isReadAsRGBA { return try pixelsOfLibrary() }
    var samples = TIFFSamples(layout)
    if layout.isCompressed { try unpack(&samples) } else { try copy(&samples) }
    return samples.image()
  }

  private var planeCount: Int { layout.isPlanar ? layout.usedSamples : 1 }

  /// A strip or a tile: its index in the file's list, and where it lies in the image.
  private func forEachPart(
    _ visit: (_ index: Int, _ x: Int, _ y: Int, _ plane: Int) throws(DermaFusionError) -> Void
  ) throws(DermaFusionError) {
    let across = (layout.width + layout.partWidth - 1) / layout.partWidth
    let down = (layout.height + layout.partHeight - 1) / layout.partHeight
    for plane in 0..<planeCount {
      for row in 0..<down {
        try deadline.check(.tiff)
        for column in 0..<across {
          try visit(
            (plane * down + row) * across + column, column * layout.partWidth, row * layout.partHeight, plane)
        }
      }
    }
  }

  private func add(
    _ part: UnsafeRawBufferPointer, stride: Int, x: Int, y: Int, plane: Int, isNative: Bool,
    to samples: inout TIFFSamples
  ) {
    let width = min(layout.partWidth, layout.width - x)
    for row in 0..<min(layout.partHeight, layout.height - y) {
      samples.add(
        UnsafeRawBufferPointer(rebasing: part[(row * stride)...]), x: x, y: y + row, width: width,
        plane: plane,
        isBigEndian: isNative ? UInt16(1).bigEndian == 1 : layout.isBigEndian,
        isReversed: !isNative && layout.isReversed)
    }
  }

  private func copy(_ samples: inout TIFFSamples) throws(DermaFusionError) {
    let stride = samples.rowBytes(width: layout.partWidth)
    try forEachPart { index, x, y, plane throws(DermaFusionError) in
      guard let offset = layout.offset(ofPart: index) else {
        throw .truncated(.tiff, reason: "\(layout.partCount) strips or tiles where more are needed")
      }
      let rows = min(layout.partHeight, layout.height - y)
      // The last row need only have what belongs to the image.
      let needed = stride * (rows - 1) + samples.rowBytes(width: min(layout.partWidth, layout.width - x))
      guard let part = ByteReader(bytes).bytes(at: offset, count: needed) else {
        throw .truncated(.tiff, reason: "the data end in a strip or tile")
      }
      add(part, stride: stride, x: x, y: y, plane: plane, isNative: false, to: &samples)
    }
  }

  private func unpack(_ samples: inout TIFFSamples) throws(DermaFusionError) {
    let stream = try TIFFStream(library, bytes, directory: layout.directoryOffset)
    if layout.color == .ycbcr {
      // libjpeg makes the colours then.
      let (colorMode, rgb): (UInt32, Int32) = (65538, 1)
      _ = ctiff_set_int(library.setField, stream.tiff, colorMode, rgb)
    }
    let size = layout.isTiled ? library.tileSize(stream.tiff) : library.stripSize(stream.tiff)
    let stride = layout.isTiled ? library.tileRowSize(stream.tiff) : library.scanlineSize(stream.tiff)
    let needed = samples.rowBytes(width: layout.partWidth)
    guard size > 0, stride >= needed, size / stride >= layout.partHeight else {
      throw .corrupt(.tiff, reason: "libtiff finds strips or tiles of another size")
    }
    guard size <= limits.memory else {
      throw .tooMuchMemory(.tiff, byteCount: size, limit: limits.memory)
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { buffer.deallocate() }
    _ = buffer.initializeMemory(as: UInt8.self, repeating: 0)
    try forEachPart { _, x, y, plane throws(DermaFusionError) in
      let count =
        layout.isTiled
        ? library.readTile(stream.tiff, buffer.baseAddress, UInt32(x), UInt32(y), 0, UInt16(plane))
        : library.readStrip(
          stream.tiff, library.computeStrip(stream.tiff, UInt32(y), UInt16(plane)), buffer.baseAddress, size)
      if count == -1 { throw stream.failure }
      add(
        UnsafeRawBufferPointer(buffer), stride: stride, x: x, y: y, plane: plane, isNative: true, to: &samples
      )
    }
  }

  private func pixelsOfLibrary() throws(DermaFusionError) -> PixelImage {
    let stream = try TIFFStream(library, bytes, directory: layout.directoryOffset)
    let (width, height) = (layout.width, layout.height)
    var isRead = false
    let raster = [UInt32](unsafeUninitializedCapacity: width * height) { raster, count in
      raster.initialize(repeating: 0)
      count = width * height
      // In the file's own orientation: libtiff's turning knows only half of them.
      isRead =
        library.readRGBA(
          stream.tiff, UInt32(width), UInt32(height), raster.baseAddress, Int32(layout.orientation.rawValue),
          1) != 0
    }
    guard isRead else { throw stream.failure }
    return PixelImage(width: width, height: height) { rgb in
      for (index, pixel) in raster.enumerated() {
        for channel in 0..<3 {
          rgb[index * 3 + channel] = UInt8(truncatingIfNeeded: pixel >> (UInt32(channel) * 8))
        }
      }
    }
  }
}
