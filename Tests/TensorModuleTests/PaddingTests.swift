import ReferenceLayers
import Testing

@testable import TensorModule

@Suite struct PaddingTests {
  @Test func samePutsTheOddZeroAfter() {
    // 380 by 3 at stride 2: 190 outputs reach over 381 pixels, so one zero, and it goes after.
    #expect(Padding.same.resolve(input: 380, kernelSize: 3, stride: 2) == (0, 190))
    #expect(Padding.same.resolve(input: 381, kernelSize: 3, stride: 2) == (1, 191))
    #expect(Padding.same.resolve(input: 95, kernelSize: 5, stride: 2) == (2, 48))
    #expect(Padding.same.resolve(input: 190, kernelSize: 5, stride: 2) == (1, 95))
    #expect(Padding.same.resolve(input: 7, kernelSize: 5, stride: 1) == (2, 7))
    #expect(Padding.same.resolve(input: 1, kernelSize: 7, stride: 3) == (3, 1))
    // A stride longer than the window leaves pixels out and needs no zeros.
    #expect(Padding.same.resolve(input: 10, kernelSize: 1, stride: 3) == (0, 4))
  }

  @Test func symmetricPutsAsManyZerosOnBothSides() {
    #expect(Padding.symmetric(1).resolve(input: 380, kernelSize: 3, stride: 2) == (1, 190))
    #expect(Padding.symmetric(1).resolve(input: 381, kernelSize: 3, stride: 2) == (1, 191))
    #expect(Padding.symmetric(0).resolve(input: 5, kernelSize: 5, stride: 1) == (0, 1))
    #expect(Padding.symmetric(4).resolve(input: 9, kernelSize: 9, stride: 1) == (4, 9))
  }

  /// Against a reference that finds the same numbers by trying.
  @Test(arguments: 1...7)
  func equalsTheReference(kernelSize: Int) {
    for input in 1...40 {
      for stride in 1...4 {
        for padding in [Padding.same, .symmetric(0), .symmetric(1), .symmetric(3)] {
          if case .symmetric(let zeros) = padding, input + 2 * zeros < kernelSize || zeros >= kernelSize {
            continue
          }
          let expected = padding.reference.resolve(input: input, kernelSize: kernelSize, stride: stride)
          #expect(
            padding.resolve(input: input, kernelSize: kernelSize, stride: stride)
              == (expected.before, expected.count),
            "\(padding) of \(input), stride \(stride)")
        }
      }
    }
  }

  @Test func aWindowResolvesBothDirections() {
    let window = Window(kernelSize: 3, stride: 2, padding: .same)
    #expect(window.resolve(height: 5, width: 8) == (1, 0, 3, 4))
    #expect(
      window.outputShape(FeatureShape(height: 5, width: 8, channels: 2), channels: 9)
        == FeatureShape(height: 3, width: 4, channels: 9))
  }

  @Test func aWindowThatDoesNotFitIsRefused() async {
    await #expect(processExitsWith: .failure) {
      _ = Padding.symmetric(1).resolve(input: 2, kernelSize: 5, stride: 1)
    }
  }

  @Test func zerosThatAWholeWindowWouldLieInAreRefused() async {
    #expect(Padding.symmetric(4).resolve(input: 9, kernelSize: 5, stride: 1) == (4, 13))
    await #expect(processExitsWith: .failure) {
      _ = Padding.symmetric(5).resolve(input: 9, kernelSize: 5, stride: 1)
    }
    await #expect(processExitsWith: .failure) {
      _ = Padding.symmetric(-1).resolve(input: 9, kernelSize: 5, stride: 1)
    }
  }
}
