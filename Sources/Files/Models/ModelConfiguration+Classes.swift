import SystemModule

extension ModelConfiguration {
  /// Reads the key `classes`: a list of ids, or a list of objects with `class`, `name` and `malignancy`. Only `class` must
  /// be there; a class without a name is called by its id, and `malignancy` is told for all classes or for none. Without the
  /// key the classes are HAM10000's.
  static func classes(_ root: inout ConfigurationObject) throws(DermaFusionError) -> [Class] {
    if root["classes"] == nil { return ham10000Classes }
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

  private static func described(_ objects: [ConfigurationObject]) throws(DermaFusionError) -> [Class] {
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
