import Evaluation
import ImagePipeline
import TestImages

@testable import ImageCodecs

/// Writes PNG files with stored (uncompressed) image data.
struct PNGBuilder {
  var width: Int
  var height: Int
  var bitDepth: UInt8
  var colorType: UInt8
  var isInterlaced = false
  /// Chunks between the header and the image data.
  var before: [[UInt8]] = []
  /// Chunks after the image data.
  var after: [[UInt8]] = []

  /// Adam7: first column and row, and the distance between columns and rows.
  private static let passes = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
  ]

  /// `samples` are row-major `[height, width, channels]`, each below 2 to the power of the bit depth.
  func file(_ samples: [Int]) -> [UInt8] {
    let channels = samples.count / (width * height)
    var raw: [UInt8] = []
    for (left, top, columnStep, rowStep) in isInterlaced ? Self.passes : [(0, 0, 1, 1)] {
      for y in stride(from: top, to: height, by: rowStep) where left < width {
        raw.append(0)
        var bits: [Bool] = []
        for x in stride(from: left, to: width, by: columnStep) {
          for channel in 0..<channels {
            let sample = samples[(y * width + x) * channels + channel]
            for bit in (0..<Int(bitDepth)).reversed() { bits.append(sample >> bit & 1 == 1) }
          }
        }
        while bits.count % 8 != 0 { bits.append(false) }
        for start in stride(from: 0, to: bits.count, by: 8) {
          raw.append(bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) })
        }
      }
    }
    return file(imageData: Self.stored(raw))
  }

  /// The same with image data of the caller's making.
  func file(imageData: [UInt8]) -> [UInt8] {
    let header =
      Self.bigEndian(UInt32(width)) + Self.bigEndian(UInt32(height)) + [
        bitDepth, colorType, 0, 0, isInterlaced ? 1 : 0,
      ]
    let chunks =
      [Self.chunk("IHDR", header)] + before + [Self.chunk("IDAT", imageData)] + after + [
        Self.chunk("IEND", [])
      ]
    return chunks.reduce(into: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { $0 += $1 }
  }

  static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + data
    return bigEndian(UInt32(data.count)) + body + bigEndian(CRC32.checksum(body[...]))
  }

  /// A zlib stream of stored blocks.
  static func stored(_ raw: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x78, 0x01]
    var rest = raw[...]
    repeat {
      let part = rest.prefix(65535)
      rest = rest.dropFirst(part.count)
      let count = UInt16(part.count)
      result += [
        rest.isEmpty ? 1 : 0, UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF),
        UInt8(~count >> 8),
      ]
      result += part
    } while !rest.isEmpty
    var low: UInt32 = 1
    var high: UInt32 = 0
    for byte in raw {
      low = (low + UInt32(byte)) % 65521
      high = (high + low) % 65521
    }
    return result + bigEndian(high << 16 | low)
  }

  private static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) }
  }
}
