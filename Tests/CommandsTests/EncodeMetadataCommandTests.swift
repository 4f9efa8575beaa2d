import Testing

@testable import Commands

@Suite struct EncodeMetadataCommandTests {
  @Test func printsTheVectorAndWhatIsMissing() {
    let result = runTool("encode-metadata", "--age", "55", "--sex", "male", "--site", "back")
    #expect(result.output == "{\"vector\":[0.55,0.0,0.0,2.0],\"missing\":[]}\n")
    #expect(result.status == .success)
    #expect(result.errors == "")
  }

  @Test func nothingGivenIsAllMissing() {
    #expect(
      runTool("encode-metadata").output
        == "{\"vector\":[0.0,1.0,2.0,13.0],\"missing\":[\"age\",\"sex\",\"site\"]}\n")
  }

  @Test func sitesHaveBlanksAndAnyLetterCase() {
    let result = runTool("encode-metadata", "--site=LOWER Extremity", "--sex=Female", "--age=0")
    #expect(result.output == "{\"vector\":[0.0,0.0,1.0,9.0],\"missing\":[]}\n")
  }

  @Test(arguments: ["0", "130", "0.5", "+7", "100.25", "007"])
  func agesWithinTheRangeAreAccepted(age: String) {
    #expect(runTool("encode-metadata", "--age", age).status == .success)
  }

  @Test(arguments: [
    "abc", "-3", "400", "nan", "inf", "", "0x37", "1e1", "130.01", "5 5", " 5", "5,5", "١٢", "+-5", "-", ".",
  ])
  func everyOtherAgeIsWrongUsage(age: String) {
    for result in [runTool("encode-metadata", "--age", age), runTool("encode-metadata", "--age=\(age)")] {
      result.expect(
        .usage,
        "Error: The value '\(age)' is invalid for '--age <age>'. "
          + "Please provide a number of years from 0 to 130.\n")
    }
  }

  /// The words of tables.
  @Test(arguments: [
    ("Frau", "Rücken", "1.0,2.0"), ("m", "left_knee", "0.0,9.0"), ("w", "cuir chevelu", "1.0,11.0"),
    ("inconnu", "unbekannt", "2.0,13.0"), ("Homme", "UPPER BACK", "0.0,2.0"),
  ])
  func sexesAndSitesMayBeWordsForThem(sex: String, site: String, indices: String) {
    let result = runTool("encode-metadata", "--sex", sex, "--site", site)
    #expect(result.output.hasPrefix("{\"vector\":[0.0,1.0,\(indices)],"), "\(result.errors)")
  }

  /// A person can name the one site of a region in which several lie.
  @Test(arguments: ["moon", "torso", "Head/Neck", "NA", "", "left"])
  func anUnknownSiteListsThoseThatAreKnown(site: String) {
    let result = runTool("encode-metadata", "--site", site)
    result.expect(
      .usage,
      "Error: The value '\(site)' is invalid for '--site <site>'. Please provide one of 'abdomen', 'acral', "
        + "'back', 'chest', 'ear', 'face', 'foot', 'genital', 'hand', 'lower extremity', 'neck', 'scalp', "
        + "'trunk', 'unknown' or 'upper extremity'.\n")
  }
}
