import Files
import Foundation
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import NetworkModule

/// Networks in which every layer hands on the pixel in the middle of its window: one live pixel of the image makes one live
/// cell of each feature map that looks at it.
@Suite struct FeatureMapGeometryTests {
  private static func formulas() throws -> [(network: FormulaNetwork, configuration: [UInt8])] {
    try FormulaNetwork.all() + FormulaNetwork.all(in: FormulaNetwork.architectures)
  }

  @Test(arguments: try formulas().map(\.network.name), [128, 95])
  func oneLivePixelMakesTheCellThatLooksAtItAlive(name: String, size: Int) throws {
    let network = try Self.network(name, size: size)
    // All maps of one run are looked at whose middle cells look at its pixel.
    var cells: [Int: [String: Int]] = [:]
    for layer in network.featureMapNames {
      let geometry = network.geometry(ofFeatureMap: layer)
      let middle = geometry.count / 2
      for cell in [max(middle - 1, 0), middle] {
        let pixel = geometry.first + geometry.step * Double(cell)
        #expect(pixel == pixel.rounded() && pixel >= 0 && pixel < Double(size), "\(layer) at \(pixel)")
        cells[Int(pixel), default: [:]][layer] = cell
      }
    }
    for (pixel, cells) in cells {
      var input = [Float](repeating: 0, count: size * size * 3)
      input[(pixel * size + pixel) * 3] = 1
      var seen = 0
      _ = network.run(
        metadata: PatientMetadata.unknown.encoded(),
        writeInput: { $0.update(from: input, count: input.count) },
        observe: { layer, map in
          guard let cell = cells[layer] else { return }
          seen += 1
          let count = network.geometry(ofFeatureMap: layer).count
          #expect(map.shape.height == count)
          let values = map.dense()
          let alive = (0..<map.shape.pixelCount).filter { values[$0 * map.shape.channels] > 0 }
          #expect(alive == [cell * count + cell], "\(name) at \(size), \(layer), pixel \(pixel)")
        })
      #expect(seen == cells.count, "\(name) at \(size): \(seen) of \(cells.count) maps were seen")
    }
  }

  private static func network(_ name: String, size: Int) throws -> Network {
    let (formula, configuration) = try #require(formulas().first { $0.network.name == name })
    var object = try #require(
      JSONSerialization.jsonObject(with: Data(configuration)) as? [String: Any])
    var preprocessing = try #require(object["preprocessing"] as? [String: Any])
    preprocessing["size"] = size
    object["preprocessing"] = preprocessing
    let tensors = formula.shapes.map { name, shape in
      let count = shape.reduce(1, *)
      let isOne = shape.count == 1 && (name.hasSuffix("running_var") || name.hasSuffix(".weight"))
      var values = [Float](repeating: isOne ? 1 : 0, count: count)
      // The middle tap of channel 0 of channel 0; the gates of squeeze-excite stay what they make of zeros.
      if shape.count == 4, !name.contains(".se.") { values[shape[2] * shape[3] / 2] = 1 }
      return (name: name, shape: shape, values: values)
    }
    return try Network(
      ModelFolder(
        configuration: [UInt8](JSONSerialization.data(withJSONObject: object)), weights: safetensors(tensors)),
      threadCount: 1)
  }
}
