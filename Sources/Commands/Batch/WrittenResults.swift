import DermaFusion
import Files
import SystemModule

/// The results that an interrupted batch left in its file.
///
/// A file is continued only if every byte of it is output of this batch's command: whole results, and at most one that
/// was torn off at the end. Anything else is refused, so that resuming never removes more than that torn result.
struct WrittenResults {
  /// One result: its line, and what it was made from besides the image and the model.
  struct Entry {
    let line: Int
    let metadata: PatientMetadata
    /// nil: the file does not tell.
    var imageSHA256: String? = nil
  }

  /// The form of each result of this batch.
  enum Form {
    /// - header: the line of column names.
    case csv(header: String)
    /// - Parameter options: those that add fields to each result.
    case json(ResultOptions)
  }

  /// Bytes up to the end of the last whole result.
  var byteCount = 0
  /// Whole results in the file.
  private(set) var count = 0
  /// The results of each image that were not taken yet, by the bytes of its name.
  private var results: [[UInt8]: [Entry]] = [:]
  /// The number of times that this batch names each image.
  private let namings: [[UInt8]: Int]
  let path: String
  private let model: ModelIdentity
  private let computation: Computation
  /// The language of the sentences.
  private let language: Language

  /// - Parameters:
  ///   - model: that continues; the results that are there must be its own.
  ///   - computation: how it goes on; results of another have other bits.
  /// - Throws: ``DermaFusionError`` where the file is not an interrupted output of this batch.
  init(
    _ bytes: [UInt8], path: String, form: Form, images: [String], model: ModelIdentity,
    computation: Computation, language: Language = .english
  ) throws(DermaFusionError) {
    self.language = language
    self.path = path
    self.model = model
    self.computation = computation
    namings = images.reduce(into: [:]) { $0[Array($1.utf8), default: 0] += 1 }
    switch form {
    case .csv(let header): try readTable(bytes, header: header, images: images)
    case .json(let options): try readLines(bytes, options: options, images: images)
    }
  }

  /// Refuses a result of another model, in another language, or one that was computed in another way.
  ///
  /// - Parameter words: the language that the result names; English results name none.
  private func require(
    _ sha256: String?, _ made: Computation, words: String?, line: Int
  ) throws(DermaFusionError) {
    let words = words ?? Language.english.rawValue
    if words != language.rawValue {
      throw failure(line, "is in the language \(words), and this batch in \(language.rawValue)")
    }
    if sha256 != model.sha256 { throw failure(line, "is of another model") }
    if made != computation {
      throw failure(
        line, "was computed in \(made), and this batch computes in \(computation), with other bits")
    }
  }

  /// True if an image has a result that no other of the same name was given for yet.
  ///
  /// - Parameters:
  ///   - metadata: what this batch knows of the patient.
  ///   - completed: the same with what the image's file says besides, asked for where a result was made with other metadata.
  ///   - imageSHA256: of the image's bytes as they are now, asked for where the file tells it; nil: not known.
  /// - Throws: ``DermaFusionError`` where the result was made with other metadata or from another image: a file must not hold both.
  mutating func take(
    _ name: String, metadata: PatientMetadata, completed: () -> PatientMetadata?, imageSHA256: () -> String?
  ) throws(DermaFusionError) -> Bool {
    let key = Array(name.utf8)
    guard let first = results[key]?.first else { return false }
    if first.metadata != metadata, first.metadata != completed() {
      throw failure(first.line, "was made with \(first.metadata), and now \(name) has \(metadata)")
    }
    if let made = first.imageSHA256, let now = imageSHA256(), made != now {
      throw failure(first.line, "was made from another image than \(name) is now (imageSHA256)")
    }
    results[key]?.removeFirst()
    return true
  }

  func failure(_ line: Int, _ reason: String) -> DermaFusionError {
    .failure(name: path, reason: "line \(line) \(reason); choose another file, or leave out --resume")
  }

  /// - Parameter end: where the result ends in the file.
  /// - Throws: ``DermaFusionError`` for a result more than the batch names the image.
  mutating func add(_ result: Entry, image: String, end: Int) throws(DermaFusionError) {
    let name = Array(image.utf8)
    if let first = results[name]?.first, results[name]!.count >= max(namings[name] ?? 0, 1) {
      throw failure(
        result.line, "is another result of \(image), which has one in line \(first.line)")
    }
    results[name, default: []].append(result)
    count += 1
    byteCount = end
  }

  /// Checks what stands behind the last whole result: nothing, or the beginning of the result of an image
  /// of this batch that has none.
  ///
  /// - Parameter start: how the result of an image begins, up to and including its name.
  func requireTornResult(
    _ tail: ArraySlice<UInt8>, line: Int, images: [String], start: (String) -> String
  ) throws(DermaFusionError) {
    if tail.isEmpty { return }
    var done = results.mapValues(\.count)
    let isTorn = images.contains { image in
      // One that has its result does not get another.
      if let count = done[Array(image.utf8)], count > 0 {
        done[Array(image.utf8)] = count - 1
        return false
      }
      let start = Array(start(image).utf8)
      if tail.count <= start.count { return start.starts(with: tail) }
      // Only the name may hold a line break.
      return tail.starts(with: start) && !tail.dropFirst(start.count).contains(UInt8(ascii: "\n"))
    }
    if !isTorn { throw failure(line, "is not the unfinished result of an image of this batch") }
  }

  /// - Parameter age: nil: missing.
  /// - Returns: nil where they are not those of a result.
  static func metadata(age: Double?, sex: String, site: String) -> PatientMetadata? {
    guard let sex = Sex(name: sex), let site = BodySite(name: site) else { return nil }
    return try? PatientMetadata(ageInYears: age, sex: sex, site: site)
  }
}

extension WrittenResults {
  mutating func readTable(
    _ bytes: [UInt8], header: String, images: [String]
  ) throws(DermaFusionError) {
    let headerBytes = Array(header.utf8)
    guard bytes.starts(with: headerBytes) else {
      // Interrupted before the first result.
      if headerBytes.starts(with: bytes) { return }
      throw failure(1, "has other columns than this batch")
    }
    byteCount = headerBytes.count
    let names = CSVTable.fields(ofRow: headerBytes[...]) ?? []
    let wanted = ["image", "modelSHA256", "age", "sex", "site", "instructionSet", "precision"]
    let places = wanted.compactMap(names.firstIndex)
    precondition(places.count == wanted.count, "of \(wanted) the header has \(places.count): \(header)")
    let words = names.firstIndex(of: "language")
    var line = 2
    while let (row, lineCount) = CSVTable.firstRow(of: bytes[byteCount...]) {
      // Each byte is as this command writes it.
      guard let cells = CSVTable.fields(ofRow: row)?.map(CSVCell.original), cells.count == names.count,
        Array(row) == Array(ClassificationCSV.line(cells).utf8)
      else { throw failure(line, "is not a row of this command's table") }
      let (set, precision) = (cells[places[5]], cells[places[6]])
      try require(
        cells[places[1]],
        Computation(
          instructionSet: set.isEmpty ? nil : set, precision: precision.isEmpty ? nil : precision),
        words: words.map { cells[$0] }, line: line)
      let age = cells[places[2]]
      guard age.isEmpty || Double(age) != nil,
        let metadata = Self.metadata(age: Double(age), sex: cells[places[3]], site: cells[places[4]])
      else { throw failure(line, "has no age, sex and site of a result") }
      try add(Entry(line: line, metadata: metadata), image: cells[places[0]], end: row.endIndex)
      line += lineCount
    }
    try requireTornResult(bytes[byteCount...], line: line, images: images, start: ClassificationCSV.start)
  }
}

extension WrittenResults {
  mutating func readLines(
    _ bytes: [UInt8], options: ResultOptions, images: [String]
  ) throws(DermaFusionError) {
    var line = 1
    while let end = bytes[byteCount...].firstIndex(of: UInt8(ascii: "\n")) {
      try readObject(bytes[byteCount..<end], line: line, options: options, end: end + 1)
      line += 1
    }
    try requireTornResult(bytes[byteCount...], line: line, images: images) { image in
      let start = JSONValue.object([
        "schemaVersion": .integer(Classification.schemaVersion), "image": .string(image),
      ])
      return start.text.dropLast() + ","
    }
  }

  private mutating func readObject(
    _ bytes: ArraySlice<UInt8>, line: Int, options: ResultOptions, end: Int
  ) throws(DermaFusionError) {
    // As this command writes it: nothing stands around the object, no carriage return either.
    guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}"),
      case .object(let object) = try? JSONParser.parse(Array(bytes)),
      case .string(let image) = object["image"],
      object["schemaVersion"] == .integer(Classification.schemaVersion),
      case .object(let known) = object["metadata"], case .string(let sex) = known["sex"],
      case .string(let site) = known["site"], let age = Self.age(known["age"]),
      let metadata = Self.metadata(age: age, sex: sex, site: site)
    else { throw failure(line, "is no result of schema version \(Classification.schemaVersion)") }
    func text(_ value: JSONValue?) -> String? { if case .string(let text) = value { text } else { nil } }
    var sha256: String?
    if case .object(let made) = object["model"] { sha256 = text(made["sha256"]) }
    try require(
      sha256,
      Computation(
        instructionSet: text(object["instructionSet"]), precision: text(object["precision"])),
      words: text(object["language"]), line: line)
    for field in ResultField.all where field.presence != .sometimes {
      let (isThere, isAsked) = (object[field.name] != nil, field.isPresent(with: options))
      if isThere == isAsked { continue }
      throw failure(
        line,
        field.presence == .always
          ? "has no '\(field.name)', which every result has"
          : "has \(isThere ? "a" : "no") '\(field.name)', unlike this batch's results")
    }
    guard let hash = text(object["imageSHA256"]), case .object = object["probabilities"],
      case .object = object["logits"]
    else { throw failure(line, "has no hash of the image, probabilities and logits of a result") }
    try add(Entry(line: line, metadata: metadata, imageSHA256: hash), image: image, end: end)
  }

  /// A missing age is `.some(nil)`; nil: neither a number nor null.
  private static func age(_ value: JSONValue?) -> Double?? {
    switch value {
    case .null: .some(nil)
    case .number(let age): age.double.map { .some($0) }
    default: nil
    }
  }
}
