import Files
import SystemModule

/// The region of the body on which the lesion lies, in the data set's fifteen names.
///
/// The raw value is the name that people and files use (`lower extremity`, with a space).
public enum BodySite: String, Sendable, CaseIterable {
  /// A region by its English name; `acral` is skin of palms and soles and under nails.
  case abdomen, acral, back, chest, ear, face, foot, genital, hand
  /// A leg without the foot.
  case lowerExtremity = "lower extremity"
  /// A region by its English name; `trunk` is chest, abdomen or back, `unknown` is no region.
  case neck, scalp, trunk, unknown
  /// An arm without the hand.
  case upperExtremity = "upper extremity"

  /// The twelve regions that a person picks from, from head to foot. `acral` and `trunk` overlap others and occur in the data
  /// set only; `unknown` is what a region is when nobody picked one.
  public static let pickerSites: [BodySite] = [
    .scalp, .face, .ear, .neck, .chest, .abdomen, .back, .genital, .upperExtremity, .hand, .lowerExtremity,
    .foot,
  ]

  /// Position in the metadata vector and in the model's embedding table, 0...14 in alphabetical order.
  package var index: Int {
    // The order of declaration is the order in which models encode the sites.
    Self.allCases.firstIndex(of: self)!
  }

  /// Reads one of the fifteen names in any letter case; `nil` for anything else.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }

  /// Reads a region as people, the ISIC archive and DICOM's code sets call it, in any letter case and with any characters between
  /// its words: `lower_extremity`, `Skin of forearm`, `upper back`. A region in which several sites lie is `unknown`, never
  /// guessed; `nil` for a region that is not known.
  package init?(region: String) {
    var words = region.lowercased().split { !$0.isLetter }.map { String($0) }
    words.removeAll { Self.idleWords.contains($0) }
    guard let site = Self.site(words) ?? Self.site(words.filter { !Self.directions.contains($0) }) else {
      return nil
    }
    self = site
  }

  /// Reads a region as ``init(region:)`` does, but gives `nil` for a region of several sites: a person can name one of them.
  package init?(word: String) {
    guard let site = BodySite(region: word),
      site != .unknown || "unknown, \(Self.unknownWords)".listed.contains(word.lowercased())
    else { return nil }
    self = site
  }

  /// In the singular or the plural.
  private static func site(_ words: [String]) -> BodySite? {
    if let site = site(words.joined(separator: " ")) { return site }
    return site(words.map { $0.hasSuffix("s") ? String($0.dropLast()) : $0 }.joined(separator: " "))
  }

  private static func site(_ region: String) -> BodySite? { Self(rawValue: region) ?? regions[region] }

  private static let idleWords = Set(
    """
    skin, structure, of, the, and, entire, region, area, surface, left, right, bilateral, part, half, third, \
    der, die, das, am, an, links, linke, linker, linkes, rechts, rechte, rechter, rechtes, région, le, la, \
    les, l, du, de, des, gauche, droit, droite, peau
    """.listed)
  /// They name a part of the region that follows.
  private static let directions = Set(
    """
    anterior, posterior, lateral, medial, dorsal, ventral, upper, lower, mid, middle, proximal, distal, top, \
    bottom, obere, oberer, oberes, untere, unterer, unteres, supérieur, supérieure, inférieur, inférieure, \
    haut, bas
    """.listed)
  /// They say that nobody knows the region.
  private static let unknownWords = "unbekannt, inconnu, inconnue"
  /// Regions besides the fifteen names, in English, German and French. Others, such as the head, the shoulder or the wrist, could
  /// be several sites: `unknown` has those of the ISIC archive. French's word for the forehead, "front", is the English one for
  /// another region.
  private static let regions: [String: BodySite] = meanings([
    .abdomen: "abdominal wall, bauch, oberbauch, unterbauch, ventre",
    .acral: "acral palms or soles, acral nos, hände oder füße, main ou pied",
    .back: "torso back, rücken, ruecken, dos",
    .chest: "breast, chest wall, brust, brustkorb, poitrine",
    .ear: "auricle, earlobe, external ear, pinna, ohr, ohren, ohrmuschel, ohrläppchen, oreille",
    .face: """
    cheek, chin, eyebrow, eyelid, forehead, lip, nose, gesicht, wange, stirn, nase, kinn, lippe, \
    augenlid, visage, joue, nez, menton, lèvre, paupière
    """,
    .foot: "feet, toe, fuß, fuss, füße, füsse, fuesse, zeh, zehe, zehen, pied, orteil",
    .genital: """
    external genitalia, genitalia, penis, scrotum, vulva, genitalbereich, genitalregion, genitale, \
    génital, génitale, zone génitale, organe génitaux, partie génitale
    """,
    .hand: "finger, thumb, hände, haende, daumen, main, doigt, pouce",
    .lowerExtremity: """
    calf, knee, leg, lower limb, shin, thigh, bein, beine, untere extremität, untere extremitäten, \
    oberschenkel, unterschenkel, wade, knie, schienbein, jambe, cuisse, mollet, genou, membre inférieur
    """,
    .neck: "hals, nacken, cou, nuque",
    .scalp: "kopfhaut, cuir chevelu",
    .trunk: "rumpf, tronc",
    .unknown: """
    torso, torso front, head neck, oral genital, oral or genital, palms soles, anogenital, nail nos, fingernail, \
    toenail, \(unknownWords)
    """,
    .upperExtremity: """
    arm, elbow, forearm, upper limb, arme, obere extremität, obere extremitäten, oberarm, unterarm, \
    ellenbogen, ellbogen, bras, avant bras, coude, membre supérieur
    """,
  ])
}

/// The patient's sex as the data set records it.
public enum Sex: String, Sendable, CaseIterable {
  /// As the data set records it; `unknown` where it does not.
  case male, female, unknown

  /// Position in the metadata vector and in the model's embedding table: 0, 1 or 2, in the order of declaration.
  package var index: Int { Self.allCases.firstIndex(of: self)! }

  /// Reads `male`, `female` or `unknown` in any letter case; `nil` for anything else.
  public init?(name: String) {
    self.init(rawValue: name.lowercased())
  }

  /// Reads a sex as tables and DICOM files write it, in English, German or French, in any letter case.
  package init?(word: String) {
    guard let sex = Self.words[word.lowercased()] ?? Self(name: word) else { return nil }
    self = sex
  }

  private static let words: [String: Sex] = meanings([
    .male: "m, man, männlich, maennlich, mann, masculin, homme, h",
    .female: "f, woman, w, weiblich, frau, féminin, feminin, femme",
    .unknown: "unbekannt, inconnu",
  ])
}

#if !hasFeature(Embedded)
  extension BodySite: Codable {}
  extension Sex: Codable {}
#endif

/// The ways in which people and files write a patient's age.
package enum PatientAge {
  /// In years. 0 is an infant.
  package static let accepted: ClosedRange<Double> = 0...130

  /// Reads an age in years: digits with or without a sign and a fraction. `Double`'s own reader also takes hexadecimal,
  /// exponents, `inf` and `nan`, none of which is an age.
  package static func years(in text: some StringProtocol) -> Double? {
    let isPlain = text.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.".utf8.contains($0)
    }
    guard isPlain, let age = Double(String(text)) else { return nil }
    return age
  }

  /// Reads an age as tables and DICOM write it: `45`, `45.5`, `85+` and `>85` (85), `45 years`, `045Y`, `018M` (1.5), `006W`,
  /// `010D`.
  package static func read(_ text: String) -> Double? {
    var rest = text.trimmed[...]
    if rest.first == ">" || rest.first == "\u{2265}" {
      rest = rest.dropFirst()
      if rest.first == "=" { rest = rest.dropFirst() }
    } else if rest.last == "+" {
      rest = rest.dropLast()
    }
    rest = rest.drop { $0 == " " }
    let digits = rest.prefix { $0.isASCII && !$0.isLetter && $0 != " " }
    let unit = String(rest.dropFirst(digits.count)).trimmed.lowercased()
    guard let number = years(in: digits), let perYear = unitsPerYear[unit],
      // `45M` and `45W` may be a man's and a woman's 45 years. Ages of DICOM have three digits.
      !["m", "w", "d"].contains(unit) || (digits.utf8.count == 3 && digits.utf8.allSatisfy { 48...57 ~= $0 })
    else { return nil }
    let age = number / perYear
    return accepted.contains(age) ? age : nil
  }

  /// Units by the words that people use; no word is years.
  private static let unitsPerYear: [String: Double] = [
    "": 1, "y": 1, "yr": 1, "yrs": 1, "year": 1, "years": 1, "years old": 1, "m": 12, "mo": 12, "month": 12,
    "months": 12, "w": 365.25 / 7, "week": 365.25 / 7, "weeks": 365.25 / 7, "d": 365.25, "day": 365.25,
    "days": 365.25,
  ]
}

extension ModelConfiguration {
  /// Checks that the model encodes the sexes and the sites as this software does.
  func requireKnownPatients() throws(DermaFusionError) {
    if sexes.isEmpty, sites.isEmpty { return }
    try Self.require("metadata.sexes", sexes, Sex.allCases.map { $0.rawValue })
    try Self.require("metadata.sites", sites, BodySite.allCases.map { $0.rawValue })
  }

  private static func require(
    _ key: String, _ found: [String], _ expected: [String]
  ) throws(DermaFusionError) {
    for index in 0..<max(expected.count, found.count) {
      let expectedWord = index < expected.count ? expected[index] : nil
      let foundWord = index < found.count ? found[index] : nil
      guard expectedWord == foundWord else {
        throw .invalidModel(
          "\(quoted(key)) has \(Self.shown(foundWord)) at index \(index), and this software "
            + "encodes \(Self.shown(expectedWord)) there")
      }
    }
  }

  private static func shown(_ word: String?) -> Sentence { word.map { Sentence(quoted($0)) } ?? "nothing" }
}

/// Words by their meanings, from the list of each meaning's words.
private func meanings<Meaning>(_ lists: KeyValuePairs<Meaning, String>) -> [String: Meaning] {
  Dictionary(uniqueKeysWithValues: lists.flatMap { meaning, words in words.listed.map { ($0, meaning) } })
}

extension String {
  /// The words of a list with commas.
  fileprivate var listed: [String] { split(separator: ",").map { String($0).trimmed } }
}
