import Foundation
import ImagePipeline
import SystemModule
import TestImages
import Testing

@testable import ImageCodecs

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

/// Libraries of the system that some tests need.
enum SystemPart: String {
  case webp, tiff, heif, jpeg2000
  /// The decoders that libheif may lack.
  case hevc, av1

  /// True if tests of it run: where it is there, and where DERMAFUSION_REQUIRE (`webp,tiff,heif,jpeg2000`) names it, so that a
  /// missing library fails them rather than skipping them.
  var runs: Bool { isThere || Self.required.contains(group) }

  private static let required = Set(
    (ProcessInfo.processInfo.environment["DERMAFUSION_REQUIRE"] ?? "").split(separator: ",").map(String.init))

  private var group: String { self == .hevc || self == .av1 ? "heif" : rawValue }

  private var isThere: Bool {
    switch self {
    case .webp: WebPLibrary.shared != nil
    case .tiff: TIFFLibrary.shared != nil
    case .heif: HEIFLibrary.shared != nil
    case .jpeg2000: OpenJPEGLibrary.shared != nil
    case .hevc: HEIFLibrary.shared?.decodesHEVC == true
    case .av1: HEIFLibrary.shared?.decodesAV1 == true
    }
  }
}
