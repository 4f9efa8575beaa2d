import DermaFusion
import ImagePipeline

extension DICOMFile {
  /// What the file says of the patient; nil where it says nothing that is understood.
  var patient: FilePatient? {
    let sex: Sex? =
      switch patientSex {
      case "M": .male
      case "F": .female
      default: nil
      }
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
    guard let first = regions.first, let site = site(first) else { return nil }
    return regions.allSatisfy { Self.site($0) == site } ? site : nil
  }

  private static func site(_ region: String) -> BodySite? {
    var words = region.lowercased().split { !$0.isLetter }.map(String.init)
    words.removeAll(where: idleWords.contains)
    if let site = sites[words.joined(separator: " ")] { return site }
    words.removeAll(where: directions.contains)
    return sites[words.joined(separator: " ")]
  }

  private static let idleWords: Set<String> = [
    "skin", "structure", "of", "the", "entire", "region", "area", "surface", "left", "right", "bilateral",
    "part",
  ]
  /// They name a part of the region that follows.
  private static let directions: Set<String> = [
    "anterior", "posterior", "lateral", "medial", "dorsal", "ventral", "upper", "lower", "middle", "proximal",
    "distal",
  ]
  /// Regions that lie in one site. Others, such as the head, the shoulder, the palm or the wrist, could be several.
  private static let sites: [String: BodySite] = [
    "abdomen": .abdomen, "abdominal wall": .abdomen, "back": .back, "breast": .chest, "chest": .chest,
    "chest wall": .chest, "auricle": .ear, "ear": .ear, "earlobe": .ear, "external ear": .ear, "pinna": .ear,
    "cheek": .face, "chin": .face, "eyebrow": .face, "eyelid": .face, "face": .face, "forehead": .face,
    "nose": .face, "foot": .foot, "toe": .foot, "external genitalia": .genital, "genital": .genital,
    "genitalia": .genital, "penis": .genital, "scrotum": .genital, "vulva": .genital, "finger": .hand,
    "hand": .hand, "thumb": .hand, "calf": .lowerExtremity, "knee": .lowerExtremity, "leg": .lowerExtremity,
    "lower extremity": .lowerExtremity, "lower limb": .lowerExtremity, "shin": .lowerExtremity,
    "thigh": .lowerExtremity, "neck": .neck, "scalp": .scalp, "trunk": .trunk, "arm": .upperExtremity,
    "elbow": .upperExtremity, "forearm": .upperExtremity, "upper extremity": .upperExtremity,
    "upper limb": .upperExtremity,
  ]
}
