extension ModelConfiguration {
  /// What one output of the network stands for.
  package struct Class: Sendable, Equatable {
    /// The short name that programs and tables use; unique in a model.
    package let id: String
    /// The name in words.
    package let name: String
    /// What a lesion of the class is; nil in every class of a model that does not say.
    package let malignancy: Malignancy?

    package init(id: String, name: String, malignancy: Malignancy?) {
      self.id = id
      self.name = name
      self.malignancy = malignancy
    }
  }

  /// What risk follows from is told by these words.
  package enum Malignancy: String, Sendable, CaseIterable {
    case malignant
    case preMalignant = "pre-malignant"
    case benign
  }

  /// How many classes a model may have.
  package static let classCounts = 2...1000

  /// The seven classes of HAM10000, which a configuration may list by their ids alone.
  package static let ham10000Classes = [
    Class(id: "akiec", name: "Actinic keratoses", malignancy: .preMalignant),
    Class(id: "bcc", name: "Basal cell carcinoma", malignancy: .malignant),
    Class(id: "bkl", name: "Benign keratosis-like lesions", malignancy: .benign),
    Class(id: "df", name: "Dermatofibroma", malignancy: .benign),
    Class(id: "mel", name: "Melanoma", malignancy: .malignant),
    Class(id: "nv", name: "Melanocytic nevi", malignancy: .benign),
    Class(id: "vasc", name: "Vascular lesions", malignancy: .benign),
  ]

  /// Reads the key `classes`: a list of ids, or a list of objects with `class`, `name` and `malignancy`. Only `class` must
  /// be there; a class without a name is called by its id, and `malignancy` is told for all classes or for none.
  static func classes(_ root: inout ConfigurationObject) throws(ConfigurationError) -> [Class] {
    let classes =
      try root.holdsTexts("classes")
      ? named(root.texts("classes")) : described(root.objects("classes"))
    guard classCounts.contains(classes.count) else {
      throw .wrongCount(
        key: "classes", expected: "\(classCounts.lowerBound) to \(classCounts.upperBound) classes",
        found: classes.count)
    }
    var seen: Set<String> = []
    for item in classes where !seen.insert(item.id).inserted { throw .duplicateClass(item.id) }
    return classes
  }

  private static func named(_ ids: [String]) -> [Class] {
    let known = Dictionary(uniqueKeysWithValues: ham10000Classes.map { ($0.id, $0) })
    if ids.count == known.count, Set(ids).count == known.count {
      let found = ids.compactMap { known[$0] }
      if found.count == known.count { return found }
    }
    return ids.map { Class(id: $0, name: $0, malignancy: nil) }
  }

  private static func described(_ objects: [ConfigurationObject]) throws(ConfigurationError) -> [Class] {
    var classes: [Class] = []
    for var object in objects {
      let id = try object.text("class")
      let name = try object["name"] == nil ? id : object.text("name")
      let malignancy: Malignancy? = try object["malignancy"] == nil ? nil : object.choice("malignancy")
      try object.requireNoOtherKeys()
      if let first = classes.first, (first.malignancy == nil) != (malignancy == nil) {
        throw .partialMalignancy(
          present: malignancy == nil ? first.id : id, missing: malignancy == nil ? id : first.id)
      }
      classes.append(Class(id: id, name: name, malignancy: malignancy))
    }
    return classes
  }
}
