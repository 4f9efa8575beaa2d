import Testing

@testable import DermaFusion
@testable import NetworkModule

/// Maps drawn where the network looks.
@Suite struct PlacedSupportTests {
  private func map(_ values: [Float]) throws -> ActivationMap {
    try ActivationMap(
      classIndex: 0, method: .gradcam, layer: "conv_head", height: 12, width: 12, signedValues: values,
      size: 380,
      geometry: FeatureMapGeometry(first: 27, step: 32, count: 12))
  }

  @Test(arguments: [380, 450, 133])
  func aLonePeakIsDrawnWhereItsCellLooks(side: Int) throws {
    for (row, column) in [(0, 0), (5, 7), (11, 10), (3, 11)] {
      var values = [Float](repeating: -1, count: 144)
      values[row * 12 + column] = 2
      let map = try map(values)
      let support = map.placedSupport(side: side)
      let highest = try #require(support.indices.max { support[$0] < support[$1] })
      // The middle of the picture's pixel, in the network's.
      let toInput = { (index: Int) in (Double(index) + 0.5) * 380 / Double(side) - 0.5 }
      let reach = 380 / Double(side)
      for (cell, found) in [(column, toInput(highest % side)), (row, toInput(highest / side))] {
        let wanted = 27 + 32 * Double(cell)
        let place = "cell \(row), \(column) at \(side): \(found), expected \(wanted)"
        // Before the first centre the map goes on as it begins.
        #expect(found <= wanted + reach && (cell == 0 || found >= wanted - reach), "\(place)")
      }
      let centre = try #require(map.massCentre)
      #expect(abs(centre.x * 380 - 0.5 - (27 + 32 * Double(column))) < 1e-6, "\(centre)")
      #expect(abs(centre.y * 380 - 0.5 - (27 + 32 * Double(row))) < 1e-6, "\(centre)")
    }
  }

  @Test func aConstantMapStaysConstantAndNothingIsBelowZero() throws {
    let flat = try map([Float](repeating: 3, count: 144))
    #expect(flat.placedSupport(side: 101).allSatisfy { abs($0 - 3) < 1e-5 })
    let rough = try map((0..<144).map { Float($0 * 7919 % 13) - 6 })
    #expect(rough.placedSupport(side: 211).allSatisfy { $0 >= 0 && $0 <= 6.6 })
  }
}
