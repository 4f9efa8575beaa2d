// What a program outside finds missing, `Scripts/check-dependency-use` tells: here all that the package's modules share is visible.
import DermaFusion
import Testing

@Suite struct PublicInterfaceTests {
  @Test func everyErrorCanBeTakenApart() {
    let file: ModelFileError = .configuration(
      file: "m", ConfigurationError.json(JSONError.trailingBytes(offset: 9)))
    let weights: ModelFileError = .safetensors(file: "m", SafetensorsError.headerEmpty)
    #expect("\(file)" == "m: the JSON has something after its end, at byte 9")
    #expect("\(weights)" == "m: the header is empty")
    #expect(ImageError.outOfMemory(ImageFormat.png) != .outOfMemory(.jpeg))
  }

  @Test func theLibraryAloneHoldsEveryTypeThatAProgramNeeds() throws {
    let image = PixelImage(width: 2, height: 1, pixels: [1, 2, 3, 4, 5, 6])
    #expect(image.pixels.count == 6)
    let metadata = try PatientMetadata(ageInYears: 55, sex: .female, site: .upperExtremity)
    #expect(metadata.ageInYears == 55)
    #expect(throws: ModelFileError.self) { try Classifier(modelDirectory: "") }
    do {
      let classifier = try Classifier(modelDirectory: "no such folder", threadCount: 1)
      let result = try classifier.classify(image, metadata: metadata)
      Issue.record("a model from nowhere gave \(result.summary)")
    } catch let error as ModelFileError {
      #expect(error == .folderMissing(path: "no such folder"))
    }
  }
}
