import ImageFiles
import ImagePipeline
import TestModels
import Testing

@testable import DermaFusion
@testable import Evaluation

/// The stage `map`, held against what the engine itself gives, with something spoiled.
@Suite struct ParityMapTests {
  static let classifier = try! LightDetector.classifier()
  static let file = "images/phantom_brown.jpg"
  static let layer = "stage5"

  /// The engine's own maps as fixtures have them: every second value of each.
  static func maps(changing change: (inout [String: Any]) -> Void = { _ in }) throws -> [String: Any] {
    var methods: [[String: Any]] = []
    for method in ActivationMapMethod.allCases {
      let map = try classifier.explain(
        encodedImage: Fixtures.read(file), metadata: PatientMetadata(sex: .female), labels: [.nv],
        method: method, layer: layer
      ).maps[0]
      let indices = Array(stride(from: 1, to: map.signedValues.count, by: 2))
      methods.append([
        "method": method.rawValue, "shape": [map.height, map.width],
        "maximumMagnitude": Double(map.signedValues.map(abs).max() ?? 0), "indices": indices,
        "values": indices.map { Double(map.signedValues[$0]) },
      ])
    }
    var maps: [String: Any] = [
      "file": file, "sex": "female", "layer": layer, "class": "nv", "methods": methods,
    ]
    change(&maps)
    return maps
  }

  static func report(_ maps: [String: Any]?) throws -> ParityReport {
    // It holds plain values only, but the compiler cannot know.
    nonisolated(unsafe) let maps = maps
    let fixtures = try Fixtures.load(
      file: "none",
      changing: {
        $0["model"] = nil
        $0["maps"] = maps.map { [$0] }
      })
    #expect(fixtures.needsModel == (maps != nil))
    return try fixtures.report(classifier: classifier)
  }

  @Test func everyMethodIsComparedByValuesAndGreatestMagnitude() throws {
    let report = try Self.report(Self.maps())
    #expect(report.agrees, "\(String(describing: report.firstDepartingStage))")
    let stage = try #require(report.stages.last)
    #expect(stage.name == "map" && stage.tolerance == 1e-4)
    #expect(stage.comparisons == 2 * ActivationMapMethod.allCases.count)
  }

  @Test func fixturesWithoutMapsAreReadAsBefore() throws {
    let report = try Self.report(nil)
    #expect(report.agrees && !report.stages.contains { $0.name == "map" })
  }

  @Test(arguments: [(2e-4, false), (-2e-4, false), (5e-5, true), (-5e-5, true)])
  func aValueBeyondTheToleranceOfTheLargestIsNamedByItsPlace(offset: Double, agrees: Bool) throws {
    var position: [Int] = []
    let maps = try Self.maps { maps in
      var methods = maps["methods"] as! [[String: Any]]
      var values = methods[0]["values"] as! [Double]
      values[3] += offset * (methods[0]["maximumMagnitude"] as! Double)
      methods[0]["values"] = values
      position = ParityReport.position(7, in: methods[0]["shape"] as! [Int])
      maps["methods"] = methods
    }
    let report = try Self.report(maps)
    #expect(report.agrees == agrees)
    let stage = try #require(report.stages.last)
    #expect(abs(stage.greatestDifference - abs(offset)) < 1e-6)
    if agrees { return }
    #expect(stage.departures == 1)
    let departure = try #require(report.firstDepartingStage?.firstDeparture)
    #expect(departure.fixture == "\(Self.file), nv by gradcam at \(Self.layer)")
    #expect(departure.place == "\(position)")
  }

  @Test func anotherMagnitudeShapeOrLayerDeparts() throws {
    let changes: [(place: String, change: (inout [String: Any]) -> Void)] = [
      (
        "[0]",
        {
          $0.change("methods", at: 1) { $0["maximumMagnitude"] = ($0["maximumMagnitude"] as! Double) * 1.001 }
        }
      ),
      ("shape", { $0.change("methods") { $0["shape"] = [1] + ($0["shape"] as! [Int]) } }),
      ("the network", { $0["layer"] = "stage7" }),
    ]
    for (place, change) in changes {
      let stage = try #require(Self.report(Self.maps(changing: change)).firstDepartingStage, "\(place)")
      #expect(stage.name == "map")
      #expect(stage.firstDeparture?.place == place)
    }
  }

  @Test func whatThisProgramDoesNotKnowIsSaid() throws {
    let changes: [(inout [String: Any]) -> Void] = [
      { $0["class"] = "naevus" }, { $0["age"] = 131 }, { $0["site"] = "elbow" },
      { $0.change("methods") { $0["method"] = "scorecam" } },
      { $0.change("methods") { $0["indices"] = [] } },
    ]
    for (index, change) in changes.enumerated() {
      let maps = try Self.maps(changing: change)
      #expect(throws: DermaFusionError.self, "change \(index)") { try Self.report(maps) }
    }
  }
}
