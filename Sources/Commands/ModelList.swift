import CommandLineSupport
import DermaFusion
import JSONModule

/// The models that `--model` finds by name.
struct ModelList: Report {
  struct Model {
    /// nil: the one that is used without `--model`.
    let name: String?
    let folder: String
    let identity: ModelIdentity
    let architecture: String
    let precision: String

    init(name: String?, folder: String, classifier: Classifier) {
      self.name = name
      self.folder = folder
      identity = classifier.model
      architecture = classifier.configuration.architecture
      precision = classifier.configuration.precision.rawValue
    }
  }

  var models: [Model]

  var json: JSONValue {
    .object([
      "schemaVersion": .integer(Classification.schemaVersion),
      "models": .array(
        models.map {
          .object([
            "name": $0.name.map(JSONValue.string) ?? .null, "folder": .string($0.folder),
            "model": $0.identity.orderedJSON, "architecture": .string($0.architecture),
            "precision": .string($0.precision),
          ])
        }),
      "disclaimer": .string(Wording.disclaimer),
    ])
  }

  func text(width: Int?) -> String {
    let names = models.map { ($0.name ?? "(default)").printable }
    let column = 2 + (names.map(\.count).max() ?? 0)
    let lines = zip(names, models).map { name, model in
      "\(model.identity.name) \(model.identity.version), \(model.architecture), \(model.precision), in \(model.folder)"
        .printable.labelled(name, column: column, width: width)
    }
    return lines.joined(separator: "\n") + "\n\n" + Wording.disclaimer.wrapped(width: width, indent: 0) + "\n"
  }
}
