import DermaFusion
import Files

/// The models that `--model` finds by name.
struct ModelList: PlainReport {
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

  var members: [(key: String, value: JSONValue)] {
    let models = models.map {
      JSONValue.object([
        "name": $0.name.map(JSONValue.string) ?? .null, "folder": .string($0.folder),
        "model": $0.identity.json, "architecture": .string($0.architecture),
        "precision": .string($0.precision),
      ])
    }
    return [("models", .array(models))]
  }

  func lines(width: Int?) -> [String] {
    let names = models.map { ($0.name ?? "(default)").printable }
    let column = 2 + (names.map(\.count).max() ?? 0)
    return zip(names, models).map { name, model in
      "\(model.identity.name) \(model.identity.version), \(model.architecture), \(model.precision), in \(model.folder)"
        .printable.labelled(name, column: column, width: width)
    }
  }
}
