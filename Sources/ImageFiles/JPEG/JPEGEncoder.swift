import CJPEG
import ImagePipeline
import SystemModule

/// Writes JPEG files through libjpeg, for pictures that are only looked at.
package enum JPEGEncoder {
  /// - Parameter quality: from 1 to 100. Every pixel keeps its colour: the lines of a heatmap are coloured.
  /// - Returns: a whole file.
  /// - Throws: ``DermaFusionError/encodingFailed(reason:)`` when memory runs out.
  package static func encode(_ image: PixelImage, quality: Int) throws(DermaFusionError) -> [UInt8] {
    precondition((1...100).contains(quality), "a quality of \(quality)")
    var bytes: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    let status = image.pixels.withUnsafeBufferPointer { pixels in
      cjpeg_encode(
        pixels.baseAddress, UInt32(image.width), UInt32(image.height), Int32(quality), &bytes, &count)
    }
    defer { cjpeg_free(bytes) }
    guard status == CJPEG_OK, let bytes else { throw .encodingFailed(reason: "out of memory") }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }
}
