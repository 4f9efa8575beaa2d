import DermaFusion
import ImagePipeline

extension DICOMFile {
  /// What the file says of the patient; nil where it says nothing that is understood.
  var patient: FilePatient? {
    let sex = Sex(word: patientSex).flatMap { $0 == .unknown ? nil : $0 }
    let patient = FilePatient(
      ageInYears: DICOMPatient.age(patientAge), sex: sex?.rawValue,
      site: (DICOMPatient.site(regions) ?? DICOMPatient.site([bodyPart]))?.rawValue)
    return patient == FilePatient() ? nil : patient
  }
}

/// How DICOM writes what models ask about the patient.
enum DICOMPatient {
  /// `045Y`, `018M`, `003W` or `010D`.
  static func age(_ text: String) -> Double? {
    guard text.utf8.count == 4, let unit = text.last,
      text.utf8.dropLast().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Double(text.dropLast())
    else { return nil }
    let years: Double
    switch unit {
    case "Y": years = number
    case "M": years = number / 12
    case "W": years = number * 7 / 365.25
    case "D": years = number / 365.25
    default: return nil
    }
    return PatientMetadata.acceptedAges.contains(years) ? years : nil
  }

  /// The site of the regions; nil where one could be several sites or they are several.
  static func site(_ regions: [String]) -> BodySite? {
    guard let first = regions.first, let site = BodySite(region: first), site != .unknown else { return nil }
    return regions.allSatisfy { BodySite(region: $0) == site } ? site : nil
  }
}
