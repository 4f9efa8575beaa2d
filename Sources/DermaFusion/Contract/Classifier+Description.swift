import Files
import ImagePipeline

extension Classifier {
  /// What can be known of the classifier before it classifies, for programs that hold it: those in C and Python, and the page.
  ///
  /// - Parameter files: what a door that reads image files says of them.
  package func orderedJSON(files: [(key: String, value: JSONValue)] = []) -> JSONValue {
    .object(
      [
        ("schemaVersion", .integer(Classification.schemaVersion)),
        ("version", .string(DermaFusionVersion.current)), ("model", model.orderedJSON),
        ("architecture", .string(configuration.architecture)),
        ("precision", .string(configuration.precision.rawValue)),
        ("temperature", .number(configuration.temperature)),
        ("inputSize", .integer(configuration.preprocessing.size)),
        ("classes", .array(labels.map { $0.orderedJSON })), ("metadataUsed", .bool(usesMetadata)),
      ] + choices + files + [
        ("threads", .integer(threadCount)), ("instructionSet", .string(instructionSet)),
        ("disclaimer", .string(Wording.disclaimer)),
      ])
  }

  /// What `info --format json` prints.
  ///
  /// - Parameters:
  ///   - folder: the model's, as the user named it.
  ///   - formats: those that can be read.
  ///   - decoders: the libraries that read images.
  package func orderedJSON(folder: String, formats: [String], decoders: [String]) -> JSONValue {
    var known: [(key: String, value: JSONValue)] = [
      ("name", .string(configuration.name)), ("version", .string(configuration.version)),
      ("sha256", .string(model.sha256)), ("architecture", .string(configuration.architecture)),
      ("precision", .string(configuration.precision.rawValue)), ("folder", .string(folder)),
      ("usesMetadata", .bool(usesMetadata)), ("temperature", .number(configuration.temperature)),
      ("hasChecksums", .bool(hasChecksums)),
    ]
    if !members.isEmpty { known.append(("members", .array(members.map { $0.orderedJSON }))) }
    return .object(
      [
        ("schemaVersion", .integer(Classification.schemaVersion)),
        ("version", .string(DermaFusionVersion.current)), ("model", .object(known)),
        ("classes", .strings(labels.ids)), ("labels", .array(labels.map { $0.orderedJSON })),
        ("preprocessing", configuration.preprocessing.orderedJSON), ("formats", .strings(formats)),
        ("decoders", .strings(decoders)),
      ] + choices + [
        ("instructionSet", .string(instructionSet)), ("threads", .integer(threadCount)),
        ("disclaimer", .string(Wording.disclaimer)),
      ])
  }

  /// The values that may be asked for.
  private var choices: [(key: String, value: JSONValue)] {
    [
      ("sexes", .strings(Sex.allCases.map { $0.rawValue })),
      ("sites", .strings(BodySite.allCases.map { $0.rawValue })),
      ("pickerSites", .strings(BodySite.pickerSites.map { $0.rawValue })),
      ("methods", .strings(ActivationMapMethod.allCases.map { $0.rawValue })),
      ("layers", .strings(layers)),
    ]
  }
}

extension Ensemble.Member {
  fileprivate var orderedJSON: JSONValue {
    .object([
      "folder": .string(folder), "weight": .number(weight), "name": .string(model.configuration.name),
      "version": .string(model.configuration.version),
      "architecture": .string(model.configuration.architecture),
      "precision": .string(model.configuration.precision.rawValue),
      "usesMetadata": .bool(model.usesMetadata), "temperature": .number(model.configuration.temperature),
    ])
  }
}

extension PreprocessingConfiguration {
  fileprivate var orderedJSON: JSONValue {
    let constancy: JSONValue =
      if let method = colorConstancy.shadesOfGray {
        .object([
          "method": .string("shades_of_gray"), "p": .number(method.p),
          "rounding": .string(method.rounding.rawValue),
        ])
      } else {
        .null
      }
    return .object([
      "size": .integer(size), "colorConstancy": constancy, "mean": .array(mean.map { .number($0) }),
      "std": .array(standardDeviation.map { .number($0) }),
    ])
  }
}
