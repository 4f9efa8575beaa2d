import Files
import Foundation
import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation

extension Fixtures {
  /// The manifest with some of it replaced, and with only what a test needs.
  static func load(
    file: String? = nil, changing change: @escaping @Sendable (inout [String: Any]) -> Void = { _ in },
    read: @escaping @Sendable (String) throws -> [UInt8] = Fixtures.read
  ) throws -> ParityFixtures {
    var manifest =
      try JSONSerialization.jsonObject(with: Data(try Fixtures.read("manifest.json"))) as! [String: Any]
    if let file {
      for key in ["images", "refused", "variants"] {
        manifest[key] = (manifest[key] as! [[String: Any]]).filter { $0["file"] as? String == file }
      }
      for key in ["predictions", "activations", "maps", "metadata"] { manifest[key] = [] }
    }
    change(&manifest)
    let bytes = [UInt8](try JSONSerialization.data(withJSONObject: manifest))
    return try ParityFixtures { $0 == "manifest.json" ? bytes : try read($0) }
  }
}

extension [String: Any] {
  /// Changes an entry of a list.
  mutating func change(_ key: String, at place: Int = 0, _ change: (inout [String: Any]) -> Void) {
    var list = self[key] as! [[String: Any]]
    change(&list[place])
    self[key] = list
  }
}

@Suite struct ParityTests {
  @Test func everyStageOfEveryFixtureAgrees() throws {
    var count = 0
    let fixtures = try ParityFixtures(read: Fixtures.read)
    let report = try fixtures.report(classifier: nil, onFixture: { count += 1 })
    #expect(count == fixtures.fixtureCount(withModel: false))
    #expect(report.agrees, "\(String(describing: report.firstDepartingStage))")
    for (name, least) in [
      ("refused", 5), ("decoded", 50), ("constancy", 50), ("normalized", 50), ("warnings", 50),
      ("metadata", 20),
    ] {
      let stage = report.stages.first { $0.name == name }
      #expect((stage?.comparisons ?? 0) >= least, "\(name)")
    }
  }

  @Test func aPixelThatDiffersIsNamedByItsRowAndTheFirstStageByItsName() throws {
    let file = "images/pnm_p6.ppm"
    let fixtures = try Fixtures.load(
      file: file,
      read: { name in
        var bytes = try Fixtures.read(name)
        // The last pixel's blue.
        if name == file { bytes[bytes.count - 1] ^= 0x40 }
        return bytes
      })
    let stage = try #require(try fixtures.report(classifier: nil).firstDepartingStage)
    #expect(stage.name == "decoded")
    let departure = try #require(stage.firstDeparture)
    #expect(departure.fixture == file)
    #expect(departure.place.hasPrefix("row "))
    #expect(departure.expected.hasPrefix("CRC-32 "))
  }

  /// The hash of the stage agrees, as it does when only the file with the array is damaged.
  @Test func whereTheWholeArrayIsAtHandTheValueIsNamed() throws {
    let array = "arrays/phantom_brown.resized.npy"
    let fixtures = try Fixtures.load(
      file: "images/phantom_brown.jpg",
      read: { name in
        var bytes = try Fixtures.read(name)
        // Row 5, column 7, green of [380, 380, 3].
        if name == array { bytes[128 + (5 * 380 + 7) * 3 + 1] ^= 0xFF }
        return bytes
      })
    let report = try fixtures.report(classifier: nil)
    let stage = try #require(report.firstDepartingStage)
    #expect(stage.name == "resized")
    #expect(stage.firstDeparture?.place == "[5, 7, 1] of \(array)")
    let values = [stage.firstDeparture?.expected, stage.firstDeparture?.found].compactMap {
      $0.flatMap(Int.init)
    }
    try #require(values.count == 2)
    #expect(values[0] == 255 - values[1])
    #expect(report.stages.filter { $0.departures > 0 }.map(\.name) == ["resized"])
  }

  @Test func anArrayThatIsMissingOrOfAnotherShapeIsNamed() throws {
    let name = "arrays/phantom_brown.resized.npy"
    let array = try NPYFile.readBytes(try Fixtures.read(name)).values
    let cut = Array(try Fixtures.read(name).dropLast(3))
    for (bytes, reason) in [
      ([], "not a NumPy array file of version 1.0"), (cut, "433197 bytes of data for shape [380, 380, 3]"),
      (
        NPYFile.bytes(array, shape: [380, 1140]),
        "an array of shape [380, 1140], where [380, 380, 3] is listed"
      ),
    ] {
      let fixtures = try Fixtures.load(
        file: "images/phantom_brown.jpg", read: { $0 == name ? bytes : try Fixtures.read($0) })
      #expect(throws: DermaFusionError.unreadableFixture(name, reason: reason)) {
        try fixtures.report(classifier: nil)
      }
    }
    struct Missing: Error, Equatable { let name: String }
    let fixtures = try Fixtures.load(
      file: "images/phantom_brown.jpg",
      read: { if $0 == name { throw Missing(name: $0) } else { return try Fixtures.read($0) } })
    #expect(throws: Missing(name: name)) { try fixtures.report(classifier: nil) }
  }

  @Test(arguments: ["row", "SHA-256"])
  func checksumsAndHashesAreComparedEach(damaged: String) throws {
    let file = "images/pnm_p6.ppm"
    let fixtures = try Fixtures.load(
      file: file,
      changing: {
        $0.change("images") { image in
          image.change("stages", at: 1) { stage in
            if damaged == "row" {
              stage["rowChecksumOffset"] = stage["rowChecksumOffset"] as! Int + 1
            } else {
              stage["sha256"] = "of another array"
            }
          }
        }
      })
    let stage = try #require(try fixtures.report(classifier: nil).firstDepartingStage)
    #expect(stage.name == "cropped")
    #expect(stage.firstDeparture?.place.hasPrefix(damaged) == true)
  }

  @Test func aNormalizedValueThatIsNotEqualIsNamedByItsPlace() throws {
    for (steps, agrees) in [(1, false), (-1, false), (0, true)] {
      let fixtures = try Fixtures.load(
        file: "images/phantom_brown.jpg",
        changing: {
          $0.change("images") { image in
            var normalized = image["normalized"] as! [String: Any]
            var values = normalized["values"] as! [Double]
            let value = Float(values[2])
            values[2] += Double(steps) * Double(value.ulp)
            normalized["values"] = values
            image["normalized"] = normalized
          }
        })
      let report = try fixtures.report(classifier: nil)
      #expect(report.agrees == agrees)
      if agrees { continue }
      #expect(report.firstDepartingStage?.name == "normalized")
      // Flat index 18050 of [3, 380, 380].
      #expect(report.firstDepartingStage?.firstDeparture?.place == "[0, 47, 190]")
    }
  }

  @Test func anImageThatMustBeRefusedAndIsNotDeparts() throws {
    let good = try Fixtures.read("images/phantom_brown.jpg")
    let fixtures = try Fixtures.load(
      file: "images/refused_text.png",
      read: { $0 == "images/refused_text.png" ? good : try Fixtures.read($0) })
    let stage = try #require(try fixtures.report(classifier: nil).firstDepartingStage)
    #expect(stage.name == "refused")
    #expect(stage.firstDeparture?.found == "accepted")
  }

  @Test func anImageThatIsRefusedForAnotherReasonDeparts() throws {
    let fixtures = try Fixtures.load(
      file: "images/refused_text.png",
      read: { $0 == "images/refused_text.png" ? [] : try Fixtures.read($0) })
    let stage = try #require(try fixtures.report(classifier: nil).firstDepartingStage)
    #expect(stage.name == "refused")
    #expect(stage.firstDeparture?.expected == "unknown type")
    #expect(stage.firstDeparture?.found == "empty")
  }

  @Test func metadataThatIsEncodedOtherwiseDeparts() throws {
    let fixtures = try Fixtures.load(
      file: "none",
      changing: {
        let missing: [String] = []
        $0["metadata"] = [
          ["age": 55, "sex": "male", "site": "back", "vector": [0.5, 0, 0, 2], "missing": missing]
            as [String: Any]
        ]
      })
    let stage = try #require(try fixtures.report(classifier: nil).firstDepartingStage)
    #expect(stage.name == "metadata")
    #expect(stage.firstDeparture?.fixture == "metadata 55/male/back")
    #expect(stage.firstDeparture?.found == "[0.55, 0.0, 0.0, 2.0]")
  }
}

@Suite struct ShippedModelTests {
  /// Debug builds take a second for each prediction.
  #if DEBUG
    static let step = 15
  #else
    static let step = 1
  #endif

  @Test
  func theNetworkGivesPyTorchsNumbers() throws {
    let fixtures = try ParityFixtures(read: Fixtures.read)
    let needsModel = fixtures.needsModel
    try #require(needsModel, "the fixtures hold no predictions")
    let classifier = try Classifier(modelDirectory: Fixtures.root.appendingPathComponent("Weights").path)
    var report = ParityReport()
    try fixtures.compareNetwork(classifier, stride: Self.step, in: &report)
    #expect(report.agrees, "\(String(describing: report.firstDepartingStage))")
    let logits = report.stages.first { $0.name == "logits" }
    #expect((logits?.comparisons ?? 0) * Self.step >= 100)
    #expect(report.stages.contains { $0.name == "blocks.6.0" })
    let maps = report.stages.first { $0.name == "map" }
    #expect((maps?.comparisons ?? 0) >= 2 * ActivationMapMethod.allCases.count)
  }
}
