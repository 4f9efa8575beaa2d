import Files
import Foundation
import ImagePipeline
import TestModels
import Testing

@testable import DermaFusion

@Suite struct ActivationMapPlacementTests {
  static let corners: [(x: Int, y: Int)] = [(0, 0), (1, 0), (0, 1), (1, 1)]

  /// Black, with a bright square that fills a sixteenth of the centre square, in one corner of it.
  static func image(corner: (x: Int, y: Int), width: Int, height: Int) -> PixelImage {
    let side = min(width, height)
    let (left, top) = ((width - side) / 2, (height - side) / 2)
    let length = side / 4
    let columns = left + corner.x * (side - length)..<left + corner.x * (side - length) + length
    let rows = top + corner.y * (side - length)..<top + corner.y * (side - length) + length
    var pixels = [UInt8](repeating: 0, count: width * height * 3)
    for y in rows {
      for x in columns {
        for channel in 0..<3 { pixels[(y * width + x) * 3 + channel] = 255 }
      }
    }
    return PixelImage(width: width, height: height, pixels: pixels)
  }

  @Test(arguments: ActivationMapMethod.allCases)
  func whereNoClassIsAskedForTheMostProbableIsExplained(method: ActivationMapMethod) throws {
    let image = Self.image(corner: (x: 1, y: 0), width: 130, height: 130)
    let classifier = try LightDetector.classifier()
    let explanation = try classifier.explain(image, method: method)
    let prediction = try #require(explanation.classification.prediction)
    #expect(prediction == .nv)
    #expect(explanation.maps.map(explanation.label) == [prediction])
    #expect(explanation.maps == (try classifier.explain(image, labels: [prediction], method: method).maps))
    #expect(explanation.maps == [try classifier.activationMap(of: image, method: method)])
    #expect(explanation.figure().width >= explanation.cropped.width)
  }

  @Test(arguments: ActivationMapMethod.allCases)
  func massLiesInTheCornerThatHoldsTheOnlyStructure(method: ActivationMapMethod) throws {
    let classifier = try LightDetector.classifier()
    for corner in Self.corners {
      for (width, height) in [(150, 150), (220, 130), (130, 220)] {
        let image = Self.image(corner: corner, width: width, height: height)
        for layer in ["conv_stem", "stage2", "conv_head"] {
          let map = try classifier.activationMap(
            of: image, label: .nv, method: method, layer: layer)
          #expect(map.status == .ok, "corner \(corner), \(width)x\(height), \(layer)")
          let centre = try #require(map.massCentre)
          let place = "corner \(corner), \(width)x\(height), \(layer): \(centre)"
          #expect((centre.x > 0.5) == (corner.x == 1), "\(place)")
          #expect((centre.y > 0.5) == (corner.y == 1), "\(place)")
          #expect(abs(centre.x - 0.5) > 0.2 && abs(centre.y - 0.5) > 0.2, "\(place)")
          // Finer, where the layer is and the method weighs whole channels: HiResCAM's and LayerCAM's gradient comes back
          // to the pixels alone that the last map looked at. Half a feature pixel is the padding's.
          if method != .hirescam, method != .layercam, let reach = ["conv_stem": 0.03, "stage2": 0.07][layer]
          {
            let expected = (x: corner.x == 1 ? 0.875 : 0.125, y: corner.y == 1 ? 0.875 : 0.125)
            #expect(abs(centre.x - expected.x) < reach && abs(centre.y - expected.y) < reach, "\(place)")
          }
        }
      }
    }
  }

  @Test func theBrightestPlaceOfTheOverlayLiesThereToo() throws {
    let classifier = try LightDetector.classifier()
    for corner in Self.corners {
      let explanation = try classifier.explain(
        Self.image(corner: corner, width: 300, height: 200), labels: [.nv])
      #expect(explanation.cropped.width == 200 && explanation.cropped.height == 200)
      let overlay = explanation.maps[0].overlay(on: explanation.cropped, alpha: 1)
      #expect(overlay.width == 200 && overlay.height == 200)
      var brightest = (value: -1, x: 0, y: 0)
      for y in 0..<200 {
        for x in 0..<200 {
          let place = (y * 200 + x) * 3
          let value = overlay.pixels[place..<place + 3].reduce(0) { $0 + Int($1) }
          if value > brightest.value { brightest = (value, x, y) }
        }
      }
      #expect((brightest.x >= 100) == (corner.x == 1), "\(corner): \(brightest)")
      #expect((brightest.y >= 100) == (corner.y == 1), "\(corner): \(brightest)")
    }
  }

  @Test func aClassThatNothingSpeaksForHasAMapThatSaysSo() throws {
    let image = Self.image(corner: (0, 1), width: 160, height: 160)
    let explanation = try LightDetector.classifier().explain(image, labels: [.mel, .bcc, .nv])
    #expect(explanation.maps.map(\.status) == [.allNegative, .allNegative, .ok])
    #expect(explanation.maps[0].minimum < 0)
    #expect(explanation.maps[0].values.allSatisfy { $0 == 0 })
    #expect(explanation.maps[0].massCentre == nil)
    #expect(explanation.maps[0].overlay(on: explanation.cropped) == explanation.cropped)
  }

  @Test func anUnknownLayerIsNamedWithThoseThereAre() throws {
    let classifier = try LightDetector.classifier()
    let image = Self.image(corner: (0, 0), width: 160, height: 160)
    let error = #expect(throws: DermaFusionError.self) {
      try classifier.activationMap(of: image, layer: "stage7")
    }
    #expect("\(try #require(error))".hasPrefix("there is no layer 'stage7'; the layers are stage0, stage1, "))
  }
}

@Suite struct ActivationMapTests {
  private func map(_ values: [Float], height: Int, width: Int) throws -> ActivationMap {
    try ActivationMap(
      classIndex: LesionLabel.mel.index, method: .gradcam, layer: "conv_head", height: height, width: width,
      signedValues: values,
      size: 32)
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity])
  func whatIsNotFiniteIsAnError(value: Float) {
    let error = #expect(throws: DermaFusionError.self) {
      try self.map([1, value, -1, 0], height: 2, width: 2)
    }
    #expect(error?.code == .nonFiniteOutput)
    #expect(
      error?.message == "the activation map of class 4, counted from 0, at conv_head is not finite")
  }

  @Test func statusTellsWhatThereIsToSee() throws {
    #expect(try map([-1, 0, -3, -2], height: 2, width: 2).status == .allNegative)
    #expect(try map([2, 2, 2, 2], height: 2, width: 2).status == .flat)
    #expect(try map([-2, 2, 2, 2], height: 2, width: 2).status == .ok)
    #expect(try map([2, 2, 2, 2], height: 2, width: 2).values.allSatisfy { $0 == 0 })
  }

  @Test func valuesSpanZeroToOneAtAnySize() throws {
    let map = try map([-1, 0.5, 3, 2, -4, 1], height: 2, width: 3)
    for side in [1, 2, 3, 7, 32, 101] {
      let values = map.values(side: side)
      #expect(values.count == side * side)
      #expect(values.allSatisfy { (0...1).contains($0) }, "side \(side)")
    }
    #expect(map.values.max().map { $0 > 0.999 } == true)
    #expect(map.values.min() == 0)
  }

  /// OpenCV's values for `cv2.resize(np.float32([[0, 1], [2, 4]]), (4, 4))`.
  @Test func resizingLiesBetweenPixelCentres() {
    let resized = Heatmap.resized([0, 1, 2, 4], height: 2, width: 2, side: 4)
    let expected: [Float] = [
      0, 0.25, 0.75, 1, 0.5, 0.8125, 1.4375, 1.75, 1.5, 1.9375, 2.8125, 3.25, 2, 2.5, 3.5, 4,
    ]
    #expect(resized == expected)
  }
}
