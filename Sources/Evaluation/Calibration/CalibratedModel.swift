import DermaFusion
import Files
import SystemModule

/// The files of a model, and what they become with another calibration: the class bias and the change of the weights are added to
/// those of the last layer, the temperature and the limits are config.json's, and all else stays.
package struct CalibratedModel: Sendable {
  /// Behind the version of a model that was fitted.
  package static let versionSuffix = "+calibrated"

  private let configuration: JSONValue
  private let weights: [UInt8]
  /// The last layer's bias.
  private let bias: Addend
  /// The last layer's matrix, `[classes][inputs]`.
  private let matrix: Addend

  /// A tensor to which a calibration adds.
  private struct Addend {
    let tensor: StoredTensor
    let values: [Float]

    init(_ tensor: StoredTensor) throws(DermaFusionError) {
      self.tensor = tensor
      values = tensor.dataType == .int8 ? [] : try tensor.floats()
    }

    /// The stored values with others added, in the type that they are stored in.
    func sums(_ added: [Double]) -> [Float] {
      precondition(added.count == values.count, "\(added.count) values are added to \(values.count)")
      return zip(values, added).map { tensor.dataType.nearest(to: Float(Double($0) + $1)) }
    }

    /// The least that is left of the others.
    func stored(_ added: [Double]) -> [Double] { zip(sums(added), values).map { Double($0) - Double($1) } }
  }

  /// - Parameter folder: that it lies in, for errors.
  package init(configuration: [UInt8], weights: [UInt8], folder: String) throws(DermaFusionError) {
    self.configuration = try JSONParser.parse(configuration)
    self.weights = weights
    let path = "\(folder)/\(ModelFolder.weightsName)"
    let file = try SafetensorsFile(bytes: weights, name: path)
    let last = Self.lastLayers.first { file["\($0).weight"] != nil } ?? Self.lastLayers[0]
    guard let matrix = file["\(last).weight"], let bias = file["\(last).bias"] else {
      throw Self.refusal(
        "\(path): there is no tensor '\(last).bias', to which the bias of each class would be added")
    }
    guard bias.dataType != .int8 else {
      throw Self.refusal(
        "\(path): the tensor '\(bias.name)' has whole numbers, to which the bias of each class cannot be added"
      )
    }
    self.bias = try Addend(bias)
    self.matrix = try Addend(matrix)
  }

  /// Reads the files of a model.
  ///
  /// - Parameter identity: of the model as it was loaded, whose files must be the same still.
  package init(folder: String, identity: ModelIdentity) throws(DermaFusionError) {
    guard try !ModelConfiguration(directory: folder).isTimms else {
      throw Self.refusal(
        "\(folder): this is timm's folder, which has no place for a calibration; export it first (dermafusion_training export --checkpoint \(folder) --output ...)"
      )
    }
    let configuration = try FileBytes.read(
      path: "\(folder)/\(ConfigurationFile.name)", limit: ConfigurationFile.byteLimit)
    let weights = try FileBytes.read(
      path: "\(folder)/\(ModelFolder.weightsName)", limit: SafetensorsFile.byteLimit)
    guard Self.identity(configuration: configuration, weights: weights) == identity.sha256 else {
      throw Self.refusal("\(folder): the model's files changed while they were read")
    }
    try self.init(configuration: configuration, weights: weights, folder: folder)
  }

  private static func refusal(_ message: Sentence) -> DermaFusionError {
    DermaFusionError(.invalidModel, message: message, remedy: "Please calibrate another model.")
  }

  /// The layers that can give the logits, as `LAST_LAYERS` of `Scripts/dermafusion_training/model/folder.py`.
  private static let lastLayers = ["fusion.classifier", "classifier", "fc", "head.fc", "head"]

  /// The type that the bias is stored in: `F16` for instance.
  package var biasType: String { bias.tensor.dataType.rawValue }

  /// True if the weights of the last layer can be changed: those of whole numbers cannot.
  package var hasChangeableLastLayer: Bool { matrix.tensor.dataType != .int8 }

  /// A fit, rounded to the types that the model stores bias and weights in.
  package func stored(_ fit: CalibrationFit) -> CalibrationFit {
    let change = fit.change.map { rows in
      let values = matrix.stored(rows.flatMap { $0 })
      let width = values.count / rows.count
      return rows.indices.map { Array(values[$0 * width..<($0 + 1) * width]) }
    }
    return CalibrationFit(bias: bias.stored(fit.bias), temperature: fit.temperature, change: change)
  }

  /// The bytes of `config.json` and `model.safetensors` with a calibration.
  ///
  /// - Parameters:
  ///   - calibration: whose fit is one that ``stored(_:)`` gave.
  ///   - classes: the ids of the model's classes, in their order.
  ///   - record: what `config.json` says of how it came about, in the place of the figures of the model's training.
  /// - Throws: `DermaFusionError` where the files would be no model any more.
  package func files(
    _ calibration: ModelCalibration, classes: [String], record: JSONValue
  ) throws -> (configuration: [UInt8], weights: [UInt8]) {
    var weights = self.weights
    func add(_ added: [Double], to addend: Addend) {
      let bytes = addend.tensor.dataType.bytes(of: addend.sums(added))
      weights.replaceSubrange(addend.tensor.byteRange, with: bytes)
    }
    add(calibration.fit.bias, to: bias)
    if let change = calibration.fit.change { add(change.flatMap { $0 }, to: matrix) }
    var root =
      configuration
      .replacing("temperature", .number(calibration.fit.temperature))
      .replacing("training", .object(["calibration": record]))
    if case .object(let object) = root, case .string(let version)? = object["version"],
      !version.hasSuffix(Self.versionSuffix)
    {
      root = root.replacing("version", .string(version + Self.versionSuffix))
    }
    if let limits = calibration.limits, case .object(let object) = root, let abstention = object["abstention"]
    {
      root = root.replacing(
        "abstention",
        abstention.changing("distance") {
          $0.replacing("threshold", .number(limits.distance))
            .replacing("outer_tenth", limits.outerTenth.map { .number($0) } ?? .null)
        }
        .changing("conformal") {
          $0.replacing("coverage", .number(limits.coverage))
            .replacing("thresholds", .array(limits.thresholds.map { .number($0) }))
            .replacing(
              ModelConfiguration.Abstention.Conformal.coverageByClassKey,
              limits.coverageByClass(classes))
        })
    }
    let text = Array((root.indentedText() + "\n").utf8)
    _ = try ModelFolder(configuration: text, weights: weights)
    return (text, weights)
  }

  /// `SHA256SUMS`, as `write_digests` of `Scripts/dermafusion_training/model/folder.py` writes it.
  package static func checksums(configuration: [UInt8], weights: [UInt8]) -> String {
    """
    # model: \(identity(configuration: configuration, weights: weights))
    \(SHA256.hexDigest(configuration))  \(ConfigurationFile.name)
    \(SHA256.hexDigest(weights))  \(ModelFolder.weightsName)

    """
  }

  /// The model's identity in results.
  package static func identity(configuration: [UInt8], weights: [UInt8]) -> String {
    var hash = SHA256()
    hash.update(configuration)
    hash.update(weights)
    return hash.finalizedHexDigest()
  }
}

extension JSONValue {
  /// An object with another value under a key, which is added where it is not there.
  fileprivate func replacing(_ key: String, _ value: JSONValue) -> JSONValue {
    guard case .object(let object) = self else { return self }
    var members = object.members.map { (key: $0.key, value: $0.key == key ? value : $0.value) }
    if object[key] == nil { members.append((key, value)) }
    return .object(members)
  }

  /// An object with a changed value under a key.
  fileprivate func changing(_ key: String, _ change: (JSONValue) -> JSONValue) -> JSONValue {
    guard case .object(let object) = self, let value = object[key] else { return self }
    return replacing(key, change(value))
  }

  /// On a line for each value, as Python's `json.dumps(value, indent=2)`.
  fileprivate func indentedText(_ margin: String = "") -> String {
    let inner = margin + "  "
    switch self {
    case .array(let values) where !values.isEmpty:
      return "[\n" + values.map { inner + $0.indentedText(inner) }.joined(separator: ",\n") + "\n\(margin)]"
    case .object(let object) where !object.members.isEmpty:
      let lines = object.members.map { member in
        "\(inner)\(JSONValue.string(member.key).text): \(member.value.indentedText(inner))"
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(margin)}"
    default: return text
    }
  }
}
