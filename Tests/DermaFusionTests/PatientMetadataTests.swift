import Files
import Testing

@testable import DermaFusion

@Suite struct PatientMetadataTests {
  @Test(
    arguments: [
      ("45", 45.0), ("45.5", 45.5), ("85+", 85), (">85", 85), ("\u{2265} 85", 85), ("045Y", 45),
      ("45 years", 45),
      ("45y", 45), ("018M", 1.5), ("18 months", 1.5), ("010D", 10 / 365.25), ("052W", 364 / 365.25),
      (" 7 ", 7),
    ] as [(String, Double)])
  func agesAreReadAsPeopleWriteThem(text: String, years: Double) throws {
    let age = try #require(PatientAge.read(text), "\(text)")
    #expect(abs(age - years) < 1e-12, "\(text): \(age)")
  }

  @Test(arguments: [
    "", "y", "+", ">", "131", "1600M", "45 parsecs", "4 5", "0x2D", "1e1", "inf", "nan", "<5", "85++", "-1",
    // An age and a sex, or an age in months, weeks or days.
    "\u{0665}", "45M", "45 m", "7.5m", "+45m", "62W", "45d", "1e2M",
  ])
  func otherTextsAreNoAges(text: String) { #expect(PatientAge.read(text) == nil, "\(text)") }

  @Test func vectorIsAgeMissingFlagSexAndSite() throws {
    let metadata = try PatientMetadata(ageInYears: 55, sex: .male, site: .back)
    #expect(metadata.encoded().values == [0.55, 0, 0, 2])
    #expect(metadata.missing == [])
  }

  @Test func nothingIsInventedForWhatWasNotGiven() {
    #expect(PatientMetadata.unknown.encoded().values == [0, 1, 2, 13])
    #expect(PatientMetadata.unknown.missing == ["age", "sex", "site"])
    #expect(PatientMetadata.unknown.isEmpty)
  }

  @Test func unknownGivenByNameCountsAsMissing() throws {
    let metadata = try PatientMetadata(ageInYears: 0, sex: .unknown, site: .acral)
    #expect(metadata.missing == ["sex"])
    #expect(metadata.encoded().values == [0, 0, 2, 1])
  }

  @Test(arguments: [(0, 0), (0.5, 0.005), (1, 0.01), (99.9, 0.999), (100, 1), (100.5, 1), (130, 1)])
  func agesFrom0To130AreClampedInTheVectorOnly(age: Double, encoded: Float) throws {
    let metadata = try PatientMetadata(ageInYears: age)
    #expect(metadata.ageInYears == age)
    #expect(metadata.encoded().values[0] == encoded)
    #expect(metadata.encoded().values[1] == 0)
  }

  @Test(arguments: [-3, -0.001, 130.001, 400, .infinity, -.infinity])
  func agesOutsideAreRefused(age: Double) {
    let error = #expect(throws: DermaFusionError.self) { try PatientMetadata(ageInYears: age) }
    #expect(error?.message == "age \(age) is not within 0...130 years")
  }

  @Test func anAgeThatIsNotANumberIsRefused() {
    #expect(throws: DermaFusionError.self) { try PatientMetadata(ageInYears: .nan) }
  }

  @Test func negativeZeroIsZero() throws {
    let metadata = try PatientMetadata(ageInYears: -0.0)
    #expect(metadata.ageInYears?.sign == .plus)
    #expect(metadata.encoded().values[0].sign == .plus)
  }

  @Test func sitesStandInTheOrderOfTheContract() {
    let names = [
      "abdomen", "acral", "back", "chest", "ear", "face", "foot", "genital", "hand", "lower extremity",
      "neck", "scalp", "trunk", "unknown", "upper extremity",
    ]
    #expect(BodySite.allCases.map(\.rawValue) == names)
    #expect(BodySite.allCases.map(\.index) == Array(0..<15))
    #expect(Sex.allCases.map(\.index) == [0, 1, 2])
  }

  @Test func aPersonPicksFromTwelveSites() {
    #expect(BodySite.pickerSites.count == 12)
    #expect(Set(BodySite.allCases).subtracting(BodySite.pickerSites) == [.acral, .trunk, .unknown])
  }

  @Test func namesAreReadInAnyLetterCaseAndNoOtherSpelling() {
    #expect(BodySite(name: "Lower Extremity") == .lowerExtremity)
    #expect(BodySite(name: "lowerExtremity") == nil)
    #expect(BodySite(name: "") == nil)
    #expect(BodySite(name: "knee") == nil)
    #expect(Sex(name: "FEMALE") == .female)
    #expect(Sex(name: "f") == nil)
  }

  /// Another order or another word would be another patient to the model.
  @Test(arguments: [
    (
      #"["male","female","unknown"]"#, #"["female","male","unknown"]"#,
      #""metadata.sexes" has "female" at index 0"#
    ),
    (#"["male","female","unknown"]"#, #"["male","female"]"#, #""metadata.sexes" has nothing at index 2"#),
    (#""upper extremity"]"#, #""upper extremity","palm"]"#, #""metadata.sites" has "palm" at index 15"#),
    ("lower extremity", "lower_extremity", #"encodes "lower extremity" there"#),
  ])
  func aModelEncodesPatientsAsThisSoftwareDoes(from: String, to: String, says: String) throws {
    let text = #"""
      {"format_version":1,"name":"m","version":"1","architecture":"tf_efficientnet_lite0","padding":"symmetric",
       "batch_norm_epsilon":0.001,"temperature":1,"preprocessing":{"size":224,"color_constancy":{"method":"shades_of_gray","p":6,"rounding":"round"},
       "mean":[0,0,0],"std":[1,1,1]},"metadata":{"sexes":["male","female","unknown"],"sites":["abdomen","acral","back",
       "chest","ear","face","foot","genital","hand","lower extremity","neck","scalp","trunk","unknown",
       "upper extremity"]},"fusion":null}
      """#
    try ModelConfiguration(parsing: Array(text.utf8)).requireKnownPatients()
    #expect(text.contains(from))
    let other = try ModelConfiguration(parsing: Array(text.replacing(from, with: to).utf8))
    let error = #expect(throws: DermaFusionError.self) { try other.requireKnownPatients() }
    #expect(error?.message.contains(says) == true, "\(error?.message ?? "none")")
  }
}
