import DermaFusion
import Files
import Foundation
import TestModels
import Testing

@testable import Evaluation

@Suite struct CalibrationTests {
  /// What `python -m dermafusion_training fixtures calibration` wrote.
  private struct Case: Decodable {
    let logits: [[Double]]
    let labels: [Int]
    let melanoma: Int?
    let distances: [Double]
    let bias: [Double]
    let temperature: Double
    let thresholds: [Double]
    let distance: Double
  }

  @Test func theFitsAreThoseOfPython() throws {
    let cases = try JSONDecoder().decode([Case].self, from: Data(Fixtures.read("calibration.json")))
    #expect(cases.count == 3)
    #expect(cases.contains { $0.temperature != 1 })
    for one in cases {
      let fit = CalibrationFit(logits: one.logits, labels: one.labels, melanoma: one.melanoma)
      for (found, expected) in zip(fit.bias, one.bias) {
        #expect(abs(found - expected) < 1e-4, "\(fit.bias), expected \(one.bias)")
      }
      #expect(abs(fit.temperature - one.temperature) < 1e-12)
      let thresholds = ModelCalibration.thresholds(
        one.logits.map(fit.probabilities), labels: one.labels, classCount: one.bias.count)
      for (found, expected) in zip(thresholds, one.thresholds) {
        #expect(abs(found - expected) < 1e-4, "\(thresholds), expected \(one.thresholds)")
      }
      #expect(abs(ModelCalibration.distance(one.distances) - one.distance) < 1e-12)
    }
  }

  @Test func foldsKeepLesionsTogether() {
    let lesions = (0..<120).map { "L\($0 % 40)" }
    let folds = CalibrationComparison.folds(lesions)
    for (index, lesion) in lesions.enumerated() {
      #expect(folds[index] == folds[index % 40], "\(lesion)")
    }
    #expect((0..<5).map { fold in folds.count { $0 == fold } } == [24, 24, 24, 24, 24])
    #expect(CalibrationComparison.folds(lesions.reversed()) == folds.reversed())
  }

  @Test func halvesAreRoundedToTheNearest() {
    let cases: [(Float, UInt16)] = [
      (0, 0), (-0.0, 0x8000), (1, 0x3C00), (-2, 0xC000), (65504, 0x7BFF), (65519.9, 0x7BFF),
      (65520, 0x7C00), (-1e9, 0xFC00),
      // Ties go to the even one.
      (1 + 0x1p-11, 0x3C00), (1 + 3 * 0x1p-11, 0x3C02), (1 + 0x1p-11 + 0x1p-20, 0x3C01),
      // Subnormal ones, and the greatest of them, whose neighbour is normal.
      (0x1p-24, 1), (0x1p-25, 0), (1.5 * 0x1p-24, 2), (0x1p-14 - 0x1p-26, 0x0400), (0x1p-14, 0x0400),
    ]
    for (value, bits) in cases {
      let bytes = TensorDataType.float16.bytes(of: [value])
      #expect(bytes == [UInt8(bits & 0xFF), UInt8(bits >> 8)], "\(value)")
    }
    #expect(TensorDataType.float16.nearest(to: -1.0007) == -1.0009765625)
    #expect(TensorDataType.brainFloat16.bytes(of: [1 + 0x1p-8, 1 + 3 * 0x1p-8]) == [0x80, 0x3F, 0x82, 0x3F])
    #expect(TensorDataType.float32.bytes(of: [-1.5]) == [0, 0, 0xC0, 0xBF])
  }
}
