import CImageLibraries
import ImagePipeline
import SystemModule

/// A TIFF file in memory that libtiff has opened.
final class TIFFStream {
  private let library: TIFFLibrary
  private(set) var tiff: TIFFLibrary.Pointer
  private let source: UnsafeMutablePointer<Source>
  private let report: UnsafeMutablePointer<ctiff_report>

  private struct Source {
    let bytes: UnsafeRawBufferPointer
    var position: UInt64
  }

  /// - Parameter bytes: must outlive the stream.
  init(_ library: TIFFLibrary, _ bytes: UnsafeRawBufferPointer) throws(DermaFusionError) {
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
  }

  deinit {
    library.close(tiff)
    source.deallocate()
    report.deallocate()
  }

  /// What libtiff said of its first error.
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
