import Files
import ImagePipeline

extension Classifier {
  package enum Asker {
    /// A program that holds it: in C, Python or the page.
    case program
    /// `info --format json`; the folder is the model's, as the user named it.
    case info(folder: String, decoders: [String])
  }

  /// - Parameters:
  ///   - formats: image formats that can be read; empty where the asker reads no files.
  ///   - endings: of the names of their files.
  package func description(
    for asker: Asker, formats: [String] = [], endings: [String] = []
  ) -> JSONValue {
    // The keys are published, and the two askers' differ.
    var members: [(key: String, value: JSONValue)] = [
      ("schemaVersion", .integer(Classification.schemaVersion)),
      ("version", .string(DermaFusionVersion.current)),
    ]
    let classes = JSONValue.array(labels.map { $0.json })
    let usesMetadata = JSONValue.bool(usesMetadata)
    let facts = configuration.facts
    switch asker {
    case .program:
      members +=
        [("model", model.json)] + facts[2...] + [
          ("temperature", .number(configuration.temperature)),
          ("inputSize", .integer(configuration.preprocessing.size)), ("classes", classes),
          ("metadataUsed", usesMetadata), multiLabel, abstention, limits,
          ("imageEndings", .strings(ImageEndings.all)),
        ] + choices + [("languages", .strings(Language.allCases.map { $0.rawValue }))]
      if !formats.isEmpty {
        members += [("formats", .strings(formats)), ("endings", .strings(endings))]
      }
      members += running
    case .info(let folder, let decoders):
      var model =
        facts[..<2] + [("sha256", .string(model.sha256))] + facts[2...] + [
          ("folder", .string(folder)), ("usesMetadata", usesMetadata),
          ("temperature", .number(configuration.temperature)), ("hasChecksums", .bool(hasChecksums)),
        ]
      if !self.members.isEmpty { model.append(("members", .array(self.members.map { $0.json }))) }
      members +=
        [
          ("model", .object(Array(model))), ("classes", .strings(labels.ids)), ("labels", classes),
          multiLabel, ("preprocessing", configuration.preprocessing.json), abstention, limits,
          ("formats", .strings(formats)), ("decoders", .strings(decoders)),
        ] + choices + running.reversed()
    }
    return .object(members + [("disclaimer", .string(Wording.disclaimer))])
  }

  private var multiLabel: (key: String, value: JSONValue) { ("multiLabel", .bool(isMultiLabel)) }

  private var abstention: (key: String, value: JSONValue) {
    ("abstention", .string(abstentionKind.rawValue))
  }

  private var limits: (key: String, value: JSONValue) {
    ("limits", .strings(abstentionLimits.map { $0.rawValue }))
  }

  private var running: [(key: String, value: JSONValue)] {
    [("threads", .integer(threadCount)), ("instructionSet", .string(instructionSet))]
  }

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

extension ModelConfiguration {
  fileprivate var facts: [(key: String, value: JSONValue)] {
    [
      ("name", .string(name)), ("version", .string(version)), ("architecture", .string(architecture)),
      ("precision", .string(precision.rawValue)),
    ]
  }
}

extension Ensemble.Member {
  fileprivate var json: JSONValue {
    .object(
      [("folder", .string(folder)), ("weight", .number(weight))] + model.configuration.facts + [
        ("usesMetadata", .bool(model.usesMetadata)),
        ("temperature", .number(model.configuration.temperature)),
      ])
  }
}

extension PreprocessingConfiguration {
  fileprivate var json: JSONValue {
    let constancy: JSONValue =
      if let method = colorConstancy.shadesOfGray {
        .object([
          "method": .string("shades_of_gray"), "p": .number(method.p),
          "rounding": .string(method.rounding.rawValue),
        ])
      } else {
        .null
      }
    var members: [(key: String, value: JSONValue)] = [("size", .integer(size))]
    if case .timm(let mode, let share) = framing {
      members += [("cropMode", .string(mode.rawValue)), ("cropPct", .number(share))]
    }
    if !keepsCentreSquare { members.append(("interpolation", .string(interpolation.rawValue))) }
    return .object(
      members + [
        ("colorConstancy", constancy), ("mean", .array(mean.map { .number($0) })),
        ("std", .array(standardDeviation.map { .number($0) })),
      ])
  }
}
