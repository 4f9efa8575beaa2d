import DermaFusion

/// The options that tell about the patient, the same for every command that takes them.
enum MetadataOptions {
  static let age = CommandOption<Double>(
    "age", valueName: "age",
    abstract: "Age in years, from 0 to 130; fractions are allowed. Without it the age is missing.",
    expectation: "Please provide a number of years from 0 to 130.", convert: age(from:))

  static let sex = CommandOption<Sex>(
    "sex", valueName: "sex",
    abstract: "Sex of the patient, in any letter case. Without it the sex is missing.",
    allowedValues: Sex.allCases.map(\.rawValue), convert: { Sex(name: $0) })

  static let site = CommandOption<BodySite>(
    "site", valueName: "site",
    abstract:
      "Region of the body, in any letter case; quote a name with a blank. Without it the site is missing.",
    allowedValues: BodySite.allCases.map(\.rawValue), convert: { BodySite(name: $0) })

  /// Of one image; see ``table`` for many.
  static let all: [any AnyCommandOption] = [age, sex, site]

  /// Digits with or without a sign and a fraction. `Double`'s own reader also takes hexadecimal, exponents,
  /// `inf` and `nan`, none of which is an age.
  private static func age(from text: String) -> Double? {
    let isPlain = text.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.".utf8.contains($0)
    }
    guard isPlain, let age = Double(text), PatientMetadata.acceptedAges.contains(age) else { return nil }
    return age
  }
}
