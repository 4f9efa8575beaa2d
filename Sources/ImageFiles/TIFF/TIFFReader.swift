import CImageLibraries
import ImagePipeline
import SystemModule

/// Reads the strips or tiles of a TIFF image as Pillow does: plain bytes from the file, all else through libtiff.
struct TIFFReader {
  private let library: TIFFLibrary
  private let bytes: UnsafeRawBufferPointer
  private let layout: TIFFLayout
  private let limits: DecodingLimits
  private let deadline: Double

  init(_ library: TIFFLibrary, _ bytes: UnsafeRawBufferPointer, _ layout: TIFFLayout, limits: DecodingLimits)
  {
    self.library = library
    self.bytes = bytes
    self.layout = layout
    self.limits = limits
    deadline = MonotonicClock.milliseconds + limits.seconds * 1000
  }

  /// The stored pixels.
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
        if MonotonicClock.milliseconds > deadline { throw .tooSlow(.tiff, seconds: limits.seconds) }
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
      guard layout.offsets.indices.contains(index) else {
        throw .truncated(.tiff, reason: "\(layout.offsets.count) strips or tiles where more are needed")
      }
      let rows = min(layout.partHeight, layout.height - y)
      // Of the last row only what belongs to the image need be there.
      let needed = stride * (rows - 1) + samples.rowBytes(width: min(layout.partWidth, layout.width - x))
      guard let part = ByteReader(bytes).bytes(at: layout.offsets[index], count: needed) else {
        throw .truncated(.tiff, reason: "the data end in a strip or tile")
      }
      add(part, stride: stride, x: x, y: y, plane: plane, isNative: false, to: &samples)
    }
  }

  private func unpack(_ samples: inout TIFFSamples) throws(DermaFusionError) {
    let stream = try TIFFStream(library, bytes)
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
    let stream = try TIFFStream(library, bytes)
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
