/// The unit of chance: images that resemble each other, so the bootstrap draws them together and one fold holds them all. These
/// are the images of a patient if the table names the patient, otherwise those of a lesion, otherwise one image.
package struct ChanceUnit: Sendable, Equatable {
  /// From the smallest unit to the largest.
  package enum Kind: String, Sendable, CaseIterable {
    case images, lesions, patients

    /// As in "by lesion".
    package var singular: String { String(rawValue.dropLast()) }
  }

  /// A row of a table, as far as it says what belongs together.
  package struct Row: Sendable {
    package let image: String
    /// Nil if the cell is empty, as with ``patient``.
    package let lesion: String?
    package let patient: String?

    package init(image: String, lesion: String?, patient: String?) {
      self.image = image
      self.lesion = lesion
      self.patient = patient
    }
  }

  package let kind: Kind
  /// The name of the patient, the lesion or the image; of the first patient where a lesion belongs to several.
  package let name: String

  package init(_ kind: Kind, _ name: String) {
    self.kind = kind
    self.name = name
  }

  /// Unlike that of every other unit: a patient and a lesion may have the same name.
  var key: String { "\(kind.rawValue) \(name)" }

  /// The unit drawn from a set of images: the largest kind of unit in it.
  package static func drawn(_ units: [ChanceUnit]) -> Kind {
    Kind.allCases.last { kind in units.contains { $0.kind == kind } } ?? .images
  }

  /// ``drawn(_:)`` in words, with the smaller units of rows that name no larger one: `patients, and lesions where none is named`.
  package static func words(_ units: [ChanceUnit]) -> String {
    let drawn = drawn(units)
    let others = Kind.allCases.reversed().filter { kind in kind != drawn && units.contains { $0.kind == kind }
    }
    return others.isEmpty
      ? drawn.rawValue
      : "\(drawn.rawValue), and \(others.map { $0.rawValue }.joined(separator: " or ")) where none is named"
  }
}

/// The unit of each row of a table, and the lesions whose patients had to be joined to one unit.
package struct ChanceUnits: Sendable {
  package let ofEach: [ChanceUnit]
  /// Lesions under the names of several patients, in the order of the table, with these patients.
  package let sharedLesions: [(lesion: String, patients: [String])]

  /// Rows of one lesion or of one patient are in one unit, and so are rows that are connected by others: a lesion of two patients
  /// joins all images of both. Names are the same where their bytes are.
  package init(_ rows: [ChanceUnit.Row]) {
    let lesions = NameGroups(rows.map { $0.lesion ?? $0.image })
    var sets = DisjointSets(count: lesions.count)
    var lesionOfPatient: [[UInt8]: Int] = [:]
    var patientsOfLesion: [Int: (names: [String], keys: Set<[UInt8]>)] = [:]
    for (row, lesion) in zip(rows, lesions.ofEach) {
      guard let patient = row.patient else { continue }
      let name = Array(patient.utf8)
      if patientsOfLesion[lesion, default: ([], [])].keys.insert(name).inserted {
        patientsOfLesion[lesion]!.names.append(patient)
      }
      if let other = lesionOfPatient[name] {
        sets.join(lesion, other)
      } else {
        lesionOfPatient[name] = lesion
      }
    }
    var units: [Int: ChanceUnit] = [:]
    for (row, lesion) in zip(rows, lesions.ofEach) {
      let unit =
        row.patient.map { ChanceUnit(.patients, $0) } ?? row.lesion.map { ChanceUnit(.lesions, $0) }
        ?? ChanceUnit(.images, row.image)
      let place = sets.leastMember(with: lesion)
      guard let known = units[place] else {
        units[place] = unit
        continue
      }
      let kinds = ChanceUnit.Kind.allCases
      if kinds.firstIndex(of: unit.kind)! > kinds.firstIndex(of: known.kind)! { units[place] = unit }
    }
    ofEach = lesions.ofEach.map { units[sets.leastMember(with: $0)]! }
    var seen: Set<Int> = []
    sharedLesions = zip(rows, lesions.ofEach).compactMap { row, lesion in
      guard let patients = patientsOfLesion[lesion]?.names, patients.count > 1, seen.insert(lesion).inserted
      else {
        return nil
      }
      return (row.lesion ?? row.image, patients)
    }
  }
}

/// Images grouped by a name such as their lesion's, or by their unit of chance. Names are the same where their bytes are: Swift's strings are equal too
/// where they only look the same.
package struct NameGroups {
  /// The number of different names.
  package let count: Int
  /// For each image, the place of its name among all in the order of their bytes.
  package let ofEach: [Int]

  package init(_ names: [String]) {
    let keys = names.map { Array($0.utf8) }
    let sorted = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
    let places = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1, $0) })
    count = sorted.count
    ofEach = keys.map { places[$0]! }
  }

  package init(_ units: [ChanceUnit]) { self.init(units.map { $0.key }) }
}

/// Places that are joined to sets, each known by the least of its members (union-find).
package struct DisjointSets {
  private var parents: [Int]

  package init(count: Int) { parents = Array(0..<count) }

  package mutating func join(_ first: Int, _ second: Int) {
    let (first, second) = (leastMember(with: first), leastMember(with: second))
    parents[max(first, second)] = min(first, second)
  }

  package mutating func leastMember(with place: Int) -> Int {
    var place = place
    while parents[place] != place {
      parents[place] = parents[parents[place]]
      place = parents[place]
    }
    return place
  }
}
