import DermaFusion
import Evaluation
import Files
import ImageFiles
import ImagePipeline
import SystemModule

/// The fingerprints of the photographs that a model was made from: a heading of 32 bytes, then 32 bytes for each row of its
/// list in its order, zeros where there is none.
struct TrainingFingerprints {
  /// Beside the list.
  static let fileName = "fingerprints.bin"
  /// Below the model's folder.
  static let relativePath = "training/\(fileName)"
  private static let heading: [UInt8] = {
    let words = Array("dermafusion fingerprints 1".utf8)
    return words + [UInt8](repeating: UInt8(ascii: "\n"), count: Fingerprint.byteCount - words.count)
  }()
  private static let byteLimit = 1 << 30

  /// The rows of the list.
  let entries: [DuplicateReport.Entry]
  let fingerprints: [Fingerprint?]

  /// Those of a model's folder; nil if it has none.
  ///
  /// - Throws: where they cannot be read, or are not those of the list.
  init?(ofModel folder: String) throws(DermaFusionError) {
    func list(_ folder: String) throws(DermaFusionError) -> [UInt8] {
      try FileBytes.read(path: "\(folder)/\(TrainingList.relativePath)", limit: MetadataTable.byteLimit)
    }
    let own = Result { () throws(DermaFusionError) in try list(folder) }
    var path = "\(folder)/\(Self.relativePath)"
    if !FileBytes.isThere(path) {
      // A model in 8 bits lies in the folder of the model that it was made from, and has its list.
      path = "\(folder)/../\(Self.relativePath)"
      guard FileBytes.isThere(path), let own = try? own.get(), try own == list("\(folder)/..") else {
        return nil
      }
    }
    let bytes = try FileBytes.read(path: path, limit: Self.byteLimit)
    let table = try CSVTable(ofImages: own.get(), path: "\(folder)/\(TrainingList.relativePath)")
    let (image, split) = (try table.column("image_id"), try table.column("split"))
    let size = Fingerprint.byteCount
    guard bytes.starts(with: Self.heading), bytes.count == size * (table.rows.count + 1) else {
      throw .failure(
        name: path,
        reason: """
          it does not hold a fingerprint for each of the \(table.rows.count) rows of \(table.path); \
          'dermafusion \(DuplicatesCommand.name) --fingerprints' writes it
          """)
    }
    entries = table.rows.map { DuplicateReport.Entry(image: $0[image], source: $0[split]) }
    fingerprints = table.rows.indices.map { row in
      Fingerprint(bytes: bytes[size * (row + 1)..<size * (row + 2)])
    }
  }

  /// The file of some fingerprints.
  static func bytes(of fingerprints: [Fingerprint?]) -> [UInt8] {
    fingerprints.reduce(into: heading) {
      $0 += $1?.bytes ?? [UInt8](repeating: 0, count: Fingerprint.byteCount)
    }
  }

  /// Writes the fingerprints of the images of a list beside it.
  static func write(beside list: String, _ arguments: ParsedArguments, terminal: Terminal) throws
    -> ExitStatus
  {
    let table = try CSVTable(
      ofImages: FileBytes.read(path: list, limit: MetadataTable.byteLimit), path: list)
    let column = try table.column("image_id")
    var pictures = PictureList(arguments, terminal: terminal)
    try pictures.read(ImageList(arguments.positionals), interruption: "\(fileName) was not written.")
    guard pictures.status == .success else { return pictures.status }
    let folder = try table.column(among: ["folder"])
    let places = Dictionary(grouping: pictures.names.indices) {
      pictures.names[$0].imageIdentifier?.imageKey ?? []
    }
    var fingerprints: [Fingerprint?] = []
    var missing: [String] = []
    for row in table.rows {
      let place = try place(
        of: row[column], in: folder.map { row[$0] }, among: places[row[column].imageKey] ?? [], pictures.names
      )
      if place == nil { missing.append(row[column]) }
      fingerprints.append(place.flatMap { pictures.pictures[$0].fingerprint })
    }
    let path = "\(FileBytes.folder(of: list))/\(fileName)"
    try FileBytes.write([(bytes(of: fingerprints), path)])
    if let first = missing.first {
      terminal.remark(
        """
        no image belongs to \(missing.count) of \(table.rows.count) rows of \(list), the first of them '\(first)'; \
        no copy of \(missing.count == 1 ? "it" : "them") will be found.
        """)
    }
    terminal.noteOnScreen("\(path): \(table.rows.count - missing.count) fingerprints.")
    return .success
  }
}

extension TrainingFingerprints {
  /// The image of a row. Of several copies, it is the one in the folder that the list names.
  ///
  /// - Throws: if several are left.
  private static func place(
    of image: String, in folder: String?, among places: [Int], _ names: [String]
  ) throws(DermaFusionError) -> Int? {
    let inFolder = places.filter { FileBytes.folder(of: names[$0]).fileName == folder }
    let left = places.count > 1 && !inFolder.isEmpty ? inFolder : places
    guard left.count > 1 else { return left.first }
    throw .failure(
      name: names[left[1]],
      reason: "\(names[left[0]]) has the same name, so the row of '\(image)' could be either's")
  }
}

/// The photographs that a model has seen, by their fingerprints: its own, or those of an ensemble's members.
struct ModelSight: Sendable {
  let folder: String
  let entries: [DuplicateReport.Entry]
  /// One for each of the ``entries``.
  let fingerprints: [Fingerprint?]
  private let index: FingerprintIndex

  /// Nil where the name is that of a folder without a model.
  ///
  /// - Throws: for a model without fingerprints.
  init?(named name: String, terminal: Terminal) throws(DermaFusionError) {
    let folder = ModelLocation.folder(named: name, terminal: terminal)
    guard FileBytes.isThere("\(folder)/\(ConfigurationFile.name)") else { return nil }
    guard let sight = try ModelSight(ofModel: folder) else {
      throw .failure(
        name: folder,
        reason: """
          the model has no fingerprints of the photographs that it was trained on (\(TrainingFingerprints.relativePath)), so \
          the program cannot tell which of these it has seen
          """)
    }
    self = sight
  }

  /// Nil for a model without fingerprints, and for an ensemble with such a member.
  ///
  /// - Throws: for fingerprints that cannot be read.
  init?(ofModel folder: String) throws(DermaFusionError) {
    var sets: [TrainingFingerprints?] = [try TrainingFingerprints(ofModel: folder)]
    if sets[0] == nil {
      let members = ModelFolder.filePaths(in: folder).map(FileBytes.folder(of:)).unique
      sets = try members.filter { $0 != folder }.map { (member) throws(DermaFusionError) in
        try TrainingFingerprints(ofModel: member)
      }
    }
    let known = sets.compactMap { $0 }
    guard !known.isEmpty, known.count == sets.count else { return nil }
    self.folder = folder
    entries = known.flatMap(\.entries)
    fingerprints = known.flatMap(\.fingerprints)
    index = FingerprintIndex(fingerprints)
  }

  /// For each picture, by its place, the photographs of which it is a copy.
  func matches(
    of pictures: [ComparedPicture], threadCount: Int, progress: () -> Void
  ) -> [(place: Int, match: FingerprintIndex.Match)] {
    var found: [(place: Int, match: FingerprintIndex.Match)] = []
    ParallelMap.forEach(Array(pictures.indices), workerCount: threadCount) { place in
      (place, index.matches(of: pictures[place]))
    } consume: { (place, matches) in
      found += matches.map { (place, $0) }
      progress()
    }
    return found
  }

  /// Looks for a photograph among those that the model has seen. Copies that are cut and turned besides are not looked for, so
  /// that it takes a part of the time of the network.
  ///
  /// - Parameter image: the whole of it.
  func look(at image: PixelImage) -> Sighting {
    let picture = ComparedPicture(image, content: "")
    let sides = Set(
      index.matches(of: picture, turnsCutouts: false).filter { $0.agreement >= Self.leastAgreement }
        .compactMap { TrainingList.Side(rawValue: entries[$0.place].source) })
    return Sighting(
      side: [.training, .duplicate, .validation].first(where: sides.contains),
      fingerprint: picture.fingerprint)
  }

  /// Higher than for ``matches(of:threadCount:progress:)``, which a person looks through: of a cut photograph few bits are
  /// compared, and another one can agree to 0.91.
  private static let leastAgreement = 0.94

  /// A photograph as its pixels tell it.
  struct Sighting {
    /// The side on which the model has seen it or a near copy of it, training before all others; nil if it has not.
    let side: TrainingList.Side?
    let fingerprint: Fingerprint?
  }

  var json: JSONValue {
    .object(["folder": .string(folder), "photographs": .integer(fingerprints.count { $0 != nil })])
  }

  /// `3 images are near copies of photographs that the model was made from: 2 training, 1 validation`
  func sentence(_ groups: [[DuplicateReport.Member]]) -> String {
    let seen = groups.filter { $0.contains { $0.entry.isSeen } }
    let images = seen.joined().count { $0.entry.source == DuplicateReport.Entry.given }
    let sides = seen.joined().filter(\.entry.isSeen).map(\.entry.source)
    let counts = sides.unique.map { side in "\(sides.count { $0 == side }) \(side)" }.joined(separator: ", ")
    let subject = images == 1 ? "1 image is a near copy" : "\(images) images are near copies"
    return "\(subject) of photographs that the model was made from\(counts.isEmpty ? "" : ": \(counts)")."
      .printable
  }
}
