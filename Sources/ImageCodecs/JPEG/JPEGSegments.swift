import CJPEG
import ImagePipeline

/// The facts in the segments APP1 and APP2 of a JPEG file: its orientation, its colour profile, and the other pictures behind it.
struct JPEGSegments {
  private let segments: [UnsafeRawBufferPointer]
  private let file: UnsafeRawBufferPointer

  private static let exifMarker = Array("Exif\0\0".utf8)
  private static let xmpMarker = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
  private static let profileMarker = Array("ICC_PROFILE\0".utf8)
  private static let picturesMarker = Array("MPF\0".utf8)

  /// - Parameters:
  ///   - reader: one that has read the header.
  ///   - file: the whole file.
  init(_ reader: UnsafeMutablePointer<cjpeg_reader>, _ file: UnsafeRawBufferPointer) {
    self.file = file
    var segments: [UnsafeRawBufferPointer] = []
    let markers = (app1: [Self.exifMarker, Self.xmpMarker], app2: [Self.profileMarker, Self.picturesMarker])
    var index = 0
    while let segment = cjpeg_segment_at(reader, index)?.pointee {
      index += 1
      let bytes = UnsafeRawBufferPointer(start: segment.bytes, count: segment.count)
      let wanted = segment.number == 1 ? markers.app1 : markers.app2
      if wanted.contains(where: { bytes.starts(with: $0) }) { segments.append(bytes) }
    }
    self.segments = segments
  }

  /// No camera lists more pictures, and none has a longer head.
  private static let (entryLimit, headLimit) = (64, 1 << 20)

  /// Joins the Exif segments and takes the last XMP segment, as Pillow does.
  var orientation: Orientation {
    var exif: [UInt8]?
    var xmp: [UInt8]?
    for segment in segments {
      if segment.starts(with: Self.exifMarker) {
        exif = (exif ?? Self.exifMarker) + segment.dropFirst(Self.exifMarker.count)
      } else if segment.starts(with: Self.xmpMarker) {
        xmp = Array(segment.dropFirst(Self.xmpMarker.count))
      }
    }
    return Orientation(exif: exif, xmp: xmp)
  }

  /// The number of pictures, and the profile of a picture with colours.
  func facts(of header: cjpeg_reader) -> FileFacts {
    var facts = FileFacts(pictureCount: pictureCount(Int(header.width), Int(header.height)))
    if header.components != 1 {
      let exif = segments.first { $0.starts(with: Self.exifMarker) }
      if profile.isEmpty, let exif {
        let bytes = UnsafeRawBufferPointer(rebasing: exif[Self.exifMarker.count...])
        if TIFFDirectory.statesAdobeRGB(exif: bytes) { facts.profile = "Adobe RGB (1998)" }
      } else {
        facts.profile = profile.withUnsafeBytes { ColorProfile.foreignName(icc: $0) }
      }
    }
    return facts
  }

  /// The parts of an ICC profile in their order; empty where one is missing, as in Pillow.
  private var profile: [UInt8] {
    // Each part begins with its number, from 1, and how many there are.
    let start = Self.profileMarker.count
    let parts = segments.filter { $0.starts(with: Self.profileMarker) && $0.count >= start + 2 }
    guard let first = parts.first, Int(first[start + 1]) == parts.count else { return [] }
    return parts.sorted { $0[start] < $1[start] }.flatMap { $0.dropFirst(start + 2) }
  }

  /// By the index of CIPA's Multi-Picture Format, DC-007. Phones also list previews, maps of the gain and of the depth there, which
  /// are not pictures of their own.
  private func pictureCount(_ width: Int, _ height: Int) -> Int {
    guard let index = segments.first(where: { $0.starts(with: Self.picturesMarker) }) else { return 1 }
    let start = Self.picturesMarker.count
    let bytes = UnsafeRawBufferPointer(rebasing: index[start...])
    guard let directory = TIFFDirectory(exif: bytes), let entries = directory.bytes(0xB002),
      let base = index.baseAddress.map({ $0 - file.baseAddress! + start })
    else { return 1 }
    return entries.withUnsafeBytes { entries in
      let reader = ByteReader(entries, isBigEndian: directory.reader.isBigEndian)
      var count = 1
      // The first entry is this picture itself.
      for entry in stride(from: 16, to: min(entries.count, Self.entryLimit * 16), by: 16) {
        guard let attribute = reader.integer32(at: entry), let offset = reader.integer32(at: entry + 8) else {
          break
        }
        switch attribute & 0xFF_FFFF {
        // Multi-frame pictures: a panorama's, a stereo camera's, several angles.
        case 0x02_0001...0x02_FFFF, 0x03_0000: count += 1
        // Previews.
        case 0x01_0000...0x01_FFFF: break
        default: if isPicture(at: base + offset, width, height) { count += 1 }
        }
      }
      return count
    }
  }

  /// True if a JPEG of the same size with colours begins there that does not say that it is a map of the gain.
  private func isPicture(at start: Int, _ width: Int, _ height: Int) -> Bool {
    let reader = ByteReader(file, isBigEndian: true)
    guard reader.integer16(at: start) == 0xFFD8 else { return false }
    var position = start + 2
    while position < start + Self.headLimit, let marker = reader.integer16(at: position),
      let length = reader.integer16(at: position + 2),
      length >= 2,
      let content = reader.bytes(at: position + 4, count: length - 2)
    {
      switch marker {
      case 0xFFC0...0xFFC3, 0xFFC9, 0xFFCA:
        return reader.integer16(at: position + 5) == height && reader.integer16(at: position + 7) == width
          && reader.byte(at: position + 9) == 3
      case 0xFFE1, 0xFFE2:
        let text = String(decoding: content.prefix(1 << 16), as: UTF8.self)
        if ["hdrgm", "HDRGainMap", "21496"].contains(where: { text.contains($0) }) { return false }
      case 0xFFDA: return false
      default: break
      }
      position += 2 + length
    }
    return false
  }
}
