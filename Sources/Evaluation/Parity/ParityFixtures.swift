import DermaFusion
import Files
import ImageCodecs
import ImagePipeline

/// Python's values at every stage, and the comparison of this engine with them.
package struct ParityFixtures: Sendable {
  package static let manifestName = "manifest.json"
  private static let rowChecksumsName = "row_checksums.npy"
  static let activationTolerance = 1e-3
  static let logitTolerance = 1e-3
  static let probabilityTolerance = 1e-4
  /// A share of the distance itself.
  static let distanceTolerance = 1e-4
  /// A difference of a score whose limit lies near 0.
  static let dermoscopyTolerance = 1e-3
  /// A share of a map's largest magnitude.
  static let mapTolerance = 1e-4

  let manifest: ParityManifest
  /// CRC-32 of every row of every uint8 stage.
  private let rowChecksums: [UInt32]
  let read: @Sendable (String) throws -> [UInt8]

  /// - Parameter read: the bytes of a file by its path below the fixtures' folder.
  /// - Throws: a failure with the code `invalidFixture`, or what `read` throws.
  package init(read: @escaping @Sendable (String) throws -> [UInt8]) throws {
    self.read = read
    let bytes = try read(Self.manifestName)
    manifest = try Self.reading(Self.manifestName) { () throws(DermaFusionError) in
      try ParityManifest(parsing: bytes)
    }
    let checksums = try read(Self.rowChecksumsName)
    rowChecksums = try Self.reading(Self.rowChecksumsName) { () throws(DermaFusionError) in
      try NPYFile.readWords(checksums).values
    }
  }

  /// The result of `body` for a file, whose failure is one of the fixtures.
  private static func reading<Value>(
    _ file: String, _ body: () throws(DermaFusionError) -> Value
  ) throws(DermaFusionError) -> Value {
    do throws(DermaFusionError) {
      return try body()
    } catch {
      throw .unreadableFixture(file, reason: error.message)
    }
  }

  /// Versions of what computed the fixtures, by name.
  package var versions: [String: String] { manifest.versions }

  /// True if there is anything that needs a model to be compared with.
  package var needsModel: Bool {
    !manifest.predictions.isEmpty || !manifest.activations.isEmpty || !manifest.maps.isEmpty
  }

  /// The number of fixtures that ``report(classifier:onFixture:)`` compares.
  package func fixtureCount(withModel: Bool) -> Int {
    let preprocessing =
      manifest.refused.count + manifest.images.count + manifest.variants.count + manifest.metadata.count
    let network = manifest.activations.count + manifest.predictions.count + manifest.maps.count
    return preprocessing + (withModel ? network : 0)
  }

  /// Compares every stage of every fixture.
  ///
  /// - Parameter classifier: the model of the fixtures; `nil` leaves out activations, logits, probabilities and activation maps.
  /// - Throws: when a fixture cannot be read; a stage that departs is in the report.
  package func report(classifier: Classifier?, onFixture: () -> Void = {}) throws -> ParityReport {
    var report = ParityReport()
    try comparePreprocessing(in: &report, onFixture: onFixture)
    if let classifier { try compareNetwork(classifier, in: &report, onFixture: onFixture) }
    return report
  }

  /// Refusals, every stage from the file to the network's input, and metadata.
  private func comparePreprocessing(in report: inout ParityReport, onFixture: () -> Void) throws {
    let preprocessor = Preprocessor(manifest.preprocessing)
    try manifest.refused.each(onFixture) { try compare($0, preprocessor: preprocessor, in: &report) }
    try manifest.images.each(onFixture) { try compare($0, preprocessor: preprocessor, in: &report) }
    try manifest.variants.each(onFixture) { try compare($0, in: &report) }
    manifest.metadata.each(onFixture) { compare($0, in: &report) }
  }

  private func compare(
    _ refused: ParityManifest.Refused, preprocessor: Preprocessor, in report: inout ParityReport
  ) throws {
    let bytes = try read(refused.file)
    var found = "accepted"
    do throws(DermaFusionError) {
      _ = try preprocessor(try ImageDecoder.decode(bytes))
    } catch {
      found = error.rule
    }
    report.compare("refused", fixture: refused.file, place: "the rule", expected: refused.rule, found: found)
  }

  private func compare(
    _ image: ParityManifest.Image, preprocessor: Preprocessor, in report: inout ParityReport
  ) throws {
    let bytes = try read(image.file)
    let preprocessed: PreprocessedImage
    do throws(DermaFusionError) {
      preprocessed = try preprocessor(try ImageDecoder.decode(bytes))
    } catch {
      return report.compare(
        "decoded", fixture: image.file, place: "the file", expected: "an image", found: "\(error)")
    }
    for expected in image.stages {
      guard let stage = PreprocessingStage(rawValue: expected.name),
        case .bytes(let values, let shape) = StageValues(preprocessed, stage: stage)
      else {
        throw DermaFusionError.unreadableFixture(
          Self.manifestName, reason: "'\(expected.name)' is not a stage of bytes")
      }
      let departure = try departure(expected, fixture: image.file, values: values, shape: shape)
      report.record(expected.name, tolerance: nil, departure: departure)
    }
    compareNormalized(preprocessed, image.normalized, fixture: image.file, stage: "normalized", in: &report)
    report.compare(
      "warnings", fixture: image.file, place: "the list", expected: image.warnings,
      found: preprocessed.warnings.map(\.rawValue))
  }

  func preprocessed(_ file: String, _ preprocessor: Preprocessor) throws -> PreprocessedImage {
    let bytes = try read(file)
    return try Self.reading(file) { () throws(DermaFusionError) in
      try preprocessor(try ImageDecoder.decode(bytes))
    }
  }

  private func compareNormalized(
    _ image: PreprocessedImage, _ samples: ParityManifest.Samples, fixture: String, stage: String,
    in report: inout ParityReport
  ) {
    let values = image.normalizedCHW()
    report.compare(
      stage, fixture: fixture, tolerance: nil, samples: samples,
      foundShape: [3, image.resized.height, image.resized.width], found: { values[$0] })
  }

  /// The same pictures under other constants than the model's.
  private func compare(_ variant: ParityManifest.Variant, in report: inout ParityReport) throws {
    let preprocessor = Preprocessor(variant.preprocessing)
    let image = try preprocessed(variant.file, preprocessor)
    let constancy = variant.preprocessing.colorConstancy.shadesOfGray.map {
      "p \($0.p), \($0.rounding.rawValue)"
    }
    let fixture =
      "\(variant.file) (size \(variant.preprocessing.size), \(constancy ?? "no colour constancy"))"
    if let expected = variant.constancySHA256 {
      report.compare(
        "constancy variants", fixture: fixture, place: "SHA-256", expected: expected,
        found: SHA256.hexDigest(image.constancy.pixels))
    }
    compareNormalized(image, variant.normalized, fixture: fixture, stage: "normalized variants", in: &report)
  }

  private func compare(_ expected: ParityManifest.Metadata, in report: inout ParityReport) {
    let patient = expected.patient
    let parts = [patient.age.map(JSONValue.decimal), patient.sex, patient.site].map { $0 ?? "-" }
    let fixture = "metadata " + parts.joined(separator: "/")
    let metadata = PatientMetadata(patient)
    report.compare(
      "metadata", fixture: fixture, place: "the vector", expected: words(expected.vector?.map(Float.init)),
      found: words(metadata?.encoded().values))
    report.compare(
      "metadata", fixture: fixture, place: "what is missing", expected: words(expected.missing),
      found: words(metadata?.missing))
  }

  private func words<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "none" }

  /// The place where an array of bytes differs from what was dumped of it: the first value if the whole array was dumped,
  /// otherwise the first row, otherwise the hash. All three are compared, so that each of them is checked.
  private func departure(
    _ expected: ParityManifest.Stage, fixture: String, values: [UInt8], shape: [Int]
  ) throws -> ParityReport.Departure? {
    func departure(_ place: String, _ expected: String, _ found: String) -> ParityReport.Departure {
      ParityReport.Departure(fixture: fixture, place: place, expected: expected, found: found)
    }
    if shape != expected.shape { return departure("shape", "\(expected.shape)", "\(shape)") }
    if let file = expected.array {
      let array = try wholeArray(file, shape: shape)
      if let index = values.indices.first(where: { values[$0] != array[$0] }) {
        let place = "\(ParityReport.position(index, in: shape)) of \(file)"
        return departure(place, "\(array[index])", "\(values[index])")
      }
    }
    let rowLength = shape[1] * shape[2]
    guard expected.rowChecksumOffset <= rowChecksums.count - shape[0] else {
      throw DermaFusionError.unreadableFixture(
        Self.rowChecksumsName, reason: "no row checksums for \(fixture)")
    }
    for row in 0..<shape[0] {
      let checksum = CRC32.checksum(values[row * rowLength..<(row + 1) * rowLength])
      let stored = rowChecksums[expected.rowChecksumOffset + row]
      if checksum != stored { return departure("row \(row)", "CRC-32 \(stored)", "CRC-32 \(checksum)") }
    }
    let sha256 = SHA256.hexDigest(values)
    return sha256 == expected.sha256 ? nil : departure("SHA-256", expected.sha256, sha256)
  }

  private func wholeArray(_ file: String, shape: [Int]) throws -> [UInt8] {
    let bytes = try read(file)
    return try Self.reading(file) { () throws(DermaFusionError) in
      let array = try NPYFile.readBytes(bytes)
      if array.shape == shape { return array.values }
      throw .invalidArray("an array of shape \(array.shape), where \(shape) is listed")
    }
  }
}

extension Array {
  /// Calls `compare` with every one, or every tenth for a step of 10, and `after` each.
  func each(stride step: Int = 1, _ after: () -> Void, _ compare: (Element) throws -> Void) rethrows {
    for index in Swift.stride(from: 0, to: count, by: step) {
      try compare(self[index])
      after()
    }
  }
}

extension PatientMetadata {
  /// `nil` where a value is not allowed.
  init?(_ patient: ParityManifest.Patient) {
    guard let sex = Sex(name: patient.sex ?? "unknown"), let site = BodySite(name: patient.site ?? "unknown")
    else { return nil }
    try? self.init(ageInYears: patient.age, sex: sex, site: site)
  }
}

extension DermaFusionError.Code {
  /// Parity fixtures cannot be used.
  package static let invalidFixture = Self("invalidFixture")
}

extension DermaFusionError {
  /// - Parameter file: below the fixtures' folder.
  package static func unreadableFixture(_ file: String, reason: String) -> Self {
    Self(.invalidFixture, message: "\(file): \(reason)", remedy: "Please use fixtures of this version.")
  }

  /// The rule by the name that fixtures have for it.
  fileprivate var rule: String {
    if self == .empty { return "empty" }
    if message.hasPrefix("not a PNG") { return "unknown type" }
    if message.contains(" is truncated: ") { return "truncated" }
    if message.hasPrefix("the image is too small") {
      return "a side under \(message.split(separator: "x").last ?? "") pixels"
    }
    return message
  }
}
