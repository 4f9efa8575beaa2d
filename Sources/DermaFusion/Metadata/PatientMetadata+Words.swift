import JSONModule

extension PatientMetadata {
  /// `age 55, male, back`; what is missing is said to be.
  package var words: String {
    let age = ageInYears.map { "age \(JSONValue.decimal($0))" } ?? "age missing"
    let sex = sex == .unknown ? "sex missing" : sex.rawValue
    let site = site == .unknown ? "site missing" : site.rawValue
    return "\(age), \(sex), \(site)"
  }
}
