import Foundation
import ModelFiles
import TensorModule
import TestModels
import Testing

@testable import DermaFusion
@testable import ExplanationModule
@testable import NetworkModule

/// Where a feature map's pixels look, held against networks of which one pixel lives.
@Suite struct FeatureMapGeometryTests {
  /// A network in which every layer hands on the pixel in the middle of its window.
  private func network(size: Int, padding: String) throws -> Network {
    let files = try LightDetector.files(classes: ["a", "b", "c"], rising: 1, falling: 2)
    var object = try #require(
      JSONSerialization.jsonObject(with: Data(files.configuration)) as? [String: Any])
    object["padding"] = padding
    var preprocessing = try #require(object["preprocessing"] as? [String: Any])
    preprocessing["size"] = size
    object["preprocessing"] = preprocessing
    let configuration = [UInt8](try JSONSerialization.data(withJSONObject: object))
    return try Classifier(configuration: configuration, weights: files.weights, threadCount: 1)
      .singleModel().network
  }

  @Test(arguments: [(128, "same"), (97, "same"), (130, "same"), (128, "symmetric"), (97, "symmetric"), (99, "symmetric")])
  func onlyTheCellWhoseCentreIsTheLivePixelLives(size: Int, padding: String) throws {
    let network = try network(size: size, padding: padding)
    for name in network.featureMapNames {
      let geometry = network.geometry(ofFeatureMap: name)
      let place = "\(name) of \(size), \(padding)"
      #expect(geometry.first == geometry.first.rounded(), "\(place): \(geometry)")
      var seen = 0
      // A few cells of each map: each run takes milliseconds.
      for cell in Set([0, 1, geometry.count / 2, geometry.count - 2, geometry.count - 1]).sorted() where cell >= 0 {
        let pixel = Int(geometry.first) + Int(geometry.step) * cell
        // Centres beyond the border are those of cells that see padding in the middle of their window.
        guard (0..<size).contains(pixel) else { continue }
        for (offset, lives) in [(0, true), (1, false), (-1, false)] where (0..<size).contains(pixel + offset) {
          let other = Int(geometry.first)
          guard (0..<size).contains(other) else { continue }
          let live = ((pixel + offset) * size + other) * 3
          let run = network.runWithGradients(
            layer: name, metadata: PatientMetadata.unknown.encoded(), needsGradients: false, logits: { _ in [] },
            writeInput: { input in
              for index in 0..<size * size * 3 { input[index] = 0 }
              for channel in 0..<3 { input[live + channel] = 1 }
            })
          let map = run.activations
          #expect(map.shape[0] == geometry.count && map.shape[1] == geometry.count, "\(place): \(map.shape)")
          let channels = map.shape[2]
          let living = (0..<geometry.count * geometry.count).filter { index in
            map.values[index * channels..<(index + 1) * channels].contains { $0 != 0 }
          }
          #expect(
            living == (lives || geometry.step == 1 ? [cell * geometry.count] : []),
            "\(place): pixel \(pixel + offset) lives in \(living), cell \(cell) looks at \(pixel)")
          seen += 1
        }
      }
      #expect(seen > 0, "\(place)")
    }
  }

  /// The places that issues and documents name.
  @Test func theShippedNetworksLastMapLooksAtPixel27AndEvery32nd() {
    let windows = [(3, 2), (3, 1), (3, 2), (5, 2), (3, 2), (5, 1), (5, 2), (3, 1)]
    var geometry = FeatureMapGeometry(inputSize: 380)
    for (kernelSize, stride) in windows {
      geometry = geometry.after(Window(kernelSize: kernelSize, stride: stride, padding: .same))
    }
    #expect(geometry == FeatureMapGeometry(first: 27, step: 32, count: 12))
    let stretched = FeatureMapGeometry(stretching: 12, over: 380)
    #expect(abs(stretched.step - 31.667) < 0.001 && abs(stretched.first - 15.333) < 0.001)
  }

  private func map(_ values: [Float], count: Int, geometry: FeatureMapGeometry?) throws -> ActivationMap {
    try ActivationMap(
      classIndex: 0, method: .gradcam, layer: "conv_head", height: count, width: count, signedValues: values,
      size: 380, geometry: geometry)
  }

  @Test(arguments: [380, 450, 133])
  func aLonePeakIsDrawnWhereItsCellLooks(side: Int) throws {
    let geometry = FeatureMapGeometry(first: 27, step: 32, count: 12)
    for (row, column) in [(0, 0), (5, 7), (11, 10), (3, 11)] {
      var values = [Float](repeating: -1, count: 144)
      values[row * 12 + column] = 2
      let map = try map(values, count: 12, geometry: geometry)
      let support = map.placedSupport(side: side)
      let highest = try #require(support.indices.max { support[$0] < support[$1] })
      // The middle of the picture's pixel, in the network's.
      let toInput = { (index: Int) in (Double(index) + 0.5) * 380 / Double(side) - 0.5 }
      let found = (x: toInput(highest % side), y: toInput(highest / side))
      let wanted = (x: 27 + 32 * Double(column), y: 27 + 32 * Double(row))
      // Beyond the outermost centres the map goes on as it ends.
      let reach = 380 / Double(side)
      let place = "\(row), \(column) of \(side): \(found), expected \(wanted)"
      #expect(column == 0 ? found.x <= wanted.x + reach : abs(found.x - wanted.x) <= reach || column == 11, "\(place)")
      #expect(row == 0 ? found.y <= wanted.y + reach : abs(found.y - wanted.y) <= reach || row == 11, "\(place)")
      let centre = try #require(map.massCentre)
      #expect(abs(centre.x * 380 - 0.5 - min(wanted.x, 379.5)) < 1e-6, "\(centre)")
      #expect(abs(centre.y * 380 - 0.5 - min(wanted.y, 379.5)) < 1e-6, "\(centre)")
    }
  }

  @Test func aConstantMapStaysConstantAndNothingIsBelowZero() throws {
    let geometry = FeatureMapGeometry(first: 27, step: 32, count: 12)
    let flat = try map([Float](repeating: 3, count: 144), count: 12, geometry: geometry)
    #expect(flat.placedSupport(side: 101).allSatisfy { abs($0 - 3) < 1e-5 })
    let values = (0..<144).map { Float($0 * 7919 % 13) - 6 }
    let rough = try map(values, count: 12, geometry: geometry)
    #expect(rough.placedSupport(side: 211).allSatisfy { $0 >= 0 && $0 <= 6.5 })
  }
}
