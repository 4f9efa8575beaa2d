// What a program outside finds missing, `Scripts/checks/dependency` tells: here all that the package's modules share is visible.
import DermaFusion
import TestModels
import Testing

@Suite struct PublicInterfaceTests {
  @Test func anErrorSaysWhatWentWrongAndWhatToDo() {
    let error = #expect(throws: DermaFusionError.self) { try PatientMetadata(ageInYears: 131) }
    #expect(error?.code == .invalidMetadata)
    #expect(error?.message == "age 131.0 is not within 0...130 years")
    #expect(error?.remedy == "Give an age in years, or none when it is not known.")
    #expect(error.map { "\($0)" } == error?.message)
  }

  @Test func theLibraryAloneHoldsEveryTypeThatAProgramNeeds() throws {
    let image = PixelImage(width: 2, height: 1, pixels: [1, 2, 3, 4, 5, 6])
    #expect(image.pixels.count == 6)
    let metadata = try PatientMetadata(ageInYears: 55, sex: .female, site: .upperExtremity)
    #expect(metadata.ageInYears == 55)
    #expect(throws: DermaFusionError.self) { try Classifier(modelDirectory: "") }
    do {
      let classifier = try Classifier(modelDirectory: "no such folder", threadCount: 1)
      let result = try classifier.classify(image, metadata: metadata)
      Issue.record("a model from nowhere gave \(result.summary)")
    } catch {
      #expect(error.code == .modelNotFound)
      #expect(error.message == "no such folder: there is no such model folder")
    }
  }
}
