import ImagePipeline
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
