import Files
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

@Suite struct AbstentionTensorTests {
  private static let channels = 80
  private static let valid: [(name: String, shape: [Int], values: [Float])] = [
    ("abstention.means", [7, channels], [Float](repeating: 0.5, count: 7 * channels)),
    ("abstention.whitening", [channels, channels], [Float](repeating: -0.25, count: channels * channels)),
  ]

  private func featureDistance(
    _ tensors: [(name: String, shape: [Int], values: [Float])]
  ) throws -> FeatureDistance {
    let file = try SafetensorsFile(bytes: safetensors(tensors))
    let weights = NetworkWeights(
      file: file, precision: .float32, kernels: KernelChoice.current)
    return try weights.featureDistance(channels: Self.channels, classCount: 7)
  }

  private func expectError(
    _ error: DermaFusionError, _ tensors: [(name: String, shape: [Int], values: [Float])]
  ) {
    #expect(throws: error) { try featureDistance(tensors) }
    #expect(!"\(error)".contains("\n"))
  }

  @Test func theRightTensorsAreTaken() throws {
    // 0.5 less in each of 80 features, times -0.25 and added up, in each of 80 directions.
    let expected = (0.25 * 0.5 * 80) * (0.25 * 0.5 * 80) as Double
    let found = try featureDistance(Self.valid)([Float](repeating: 0, count: Self.channels))
    #expect(abs(found - expected) < 1e-9, "\(found), expected \(expected)")
  }

  /// Added up in Double in the order of the channels, whatever their size.
  @Test func theProbeTakesOneWeightForEachChannel() throws {
    func probe(_ shape: [Int], _ values: [Float]) throws -> DermoscopyProbe {
      let file = try SafetensorsFile(bytes: safetensors([("abstention.dermoscopy", shape, values)]))
      return try NetworkWeights(file: file, precision: .float32, kernels: KernelChoice.current)
        .dermoscopyProbe(channels: 4)
    }
    let values: [Float] = [0.1, -3, 1e-30, 16_777_216]
    let score = try probe([4], values)([3, 0.1, 1e30, 1.000_000_1])
    let expected =
      ((Double(values[0]) * 3 + -3 * Double(0.1 as Float)) + Double(values[2]) * Double(1e30 as Float))
      + 16_777_216 * Double(1.000_000_1 as Float)
    #expect(score == expected, "\(score), expected \(expected)")
    #expect(
      throws: DermaFusionError.invalidModel(
        "model.safetensors: the tensor \"abstention.dermoscopy\" has shape [3], and the network needs [4]")
    ) { try probe([3], [1, 2, 3]) }
    #expect(
      throws: DermaFusionError.invalidModel(
        "model.safetensors: the tensor \"abstention.dermoscopy\" has the value NaN at index 1; every value must be finite"
      )
    ) { try probe([4], [1, .nan, 3, 4]) }
  }

  @Test(arguments: 0..<2) func aTensorThatIsMissingIsNamed(index: Int) {
    var tensors = Self.valid
    let name = tensors.remove(at: index).name
    expectError(.invalidModel("model.safetensors: the tensor \"\(name)\" is missing"), tensors)
  }

  @Test(arguments: 0..<2) func aTensorOfAnotherShapeIsNamed(index: Int) {
    var tensors = Self.valid
    let (name, shape, values) = tensors[index]
    let found = [shape[0] - 1] + shape.dropFirst()
    tensors[index] = (name, found, Array(values.prefix(found.reduce(1, *))))
    expectError(
      .invalidModel(
        "model.safetensors: the tensor \"\(name)\" has shape \(found), and the network needs \(shape)"),
      tensors)
  }

  @Test(arguments: 0..<2) func aValueThatIsNotFiniteIsNamed(index: Int) {
    var tensors = Self.valid
    tensors[index].values[2] = -.infinity
    expectError(
      .invalidModel(
        """
        model.safetensors: the tensor "\(tensors[index].name)" has the value -infinity at index 2; every value must be finite
        """), tensors)
  }
}
