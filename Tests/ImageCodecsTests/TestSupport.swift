import ImageCodecs
import ImagePipeline
import SystemModule
import TestImages
import Testing

/// Records the first differing value and its place.
func expectEqual(
  _ actual: PixelImage, _ expected: PixelImage, _ comment: @autoclosure () -> String = "",
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard let difference = actual.firstDifference(from: expected) else { return }
  Issue.record("\(comment()): \(difference)", sourceLocation: sourceLocation)
}

/// Expects the decoder to refuse the bytes with exactly this error.
func expectRefusal(
  of bytes: [UInt8], _ expected: DermaFusionError, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(throws: expected, sourceLocation: sourceLocation) { try ImageDecoder.decode(bytes) }
}
