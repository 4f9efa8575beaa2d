import Files
import ImagePipeline

extension FilePatient {
  /// In years; nil where the file says none that is accepted.
  package var ageInYears: Double? { PatientAge.read(age) ?? Self.age(born: birthDate, on: date) }

  /// Nil where the file says none that is understood.
  package var knownSex: Sex? { Sex(word: sex).flatMap { $0 == .unknown ? nil : $0 } }

  /// Nil where the file says none that is understood, or several.
  package var site: BodySite? { Self.site(regions) ?? Self.site([bodyPart]) }

  /// The age on a day, as `PatientAge` would state it: in whole years, below two years in whole months.
  static func age(born birth: String, on day: String) -> Double? {
    guard let birth = date(birth), let day = date(day) else { return nil }
    let months = (day.year - birth.year) * 12 + day.month - birth.month - (day.day < birth.day ? 1 : 0)
    let years = months < 24 ? Double(months) / 12 : Double(months / 12)
    return PatientAge.accepted.contains(years) ? years : nil
  }

  /// `20261126`, or `2026.11.26` as old programs write it.
  private static func date(_ text: String) -> (year: Int, month: Int, day: Int)? {
    let digits = text.utf8.count == 10 ? text.filter { $0 != "." } : text
    guard digits.utf8.count == 8, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(digits)
    else { return nil }
    let date = (year: number / 10000, month: number / 100 % 100, day: number % 100)
    return date.year > 0 && (1...12).contains(date.month) && (1...31).contains(date.day) ? date : nil
  }

  /// The site of the regions; nil where one could be several sites or they are several.
  static func site(_ regions: [String]) -> BodySite? {
    guard let first = regions.first, let site = BodySite(region: first), site != .unknown else { return nil }
    return regions.allSatisfy { BodySite(region: $0) == site } ? site : nil
  }
}
