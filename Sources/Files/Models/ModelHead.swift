import SystemModule

// The facts in a configuration of timm, transformers or a training on the network's last layer. Where several classes may be
// right at once (a multi-label head), the probabilities are sigmoids; a softmax would give numbers that are not what they say.

extension ConfigurationObject {
  /// Keys below which words are names of classes or prose, or records of a training.
  private static let keysOfNames: Set = [
    "labelnames", "labels", "labeldescriptions", "id2label", "label2id", "classes", "training", "description",
    "license", "citation",
  ]
  private static let keysOfActivations: Set = [
    "activation", "finalactivation", "outputactivation", "classifieractivation", "headactivation",
    "functiontoapply",
  ]
  private static let keysOfLosses: Set = ["loss", "losstype", "lossfn", "criterion"]
  /// Losses of timm that need a yes or no for each class.
  private static let lossesOfSeveralLabels: Set = ["twoway", "zlpr", "db"]
  private static let multilabel = "multilabel".utf8

  /// True if a key says that each output is a yes or no of its own.
  ///
  /// - Throws: `DermaFusionError` that names a key by which the outputs are no logits of classes.
  func isMultiLabel() throws(DermaFusionError) -> Bool {
    var isMultiLabel = false
    for member in members {
      let key = Self.letters(member.key)
      if Self.keysOfNames.contains(key) { continue }
      var objects: [JSONValue] = []
      switch member.value {
      case .object: objects = [member.value]
      case .array(let elements): objects = elements.filter { if case .object = $0 { true } else { false } }
      default:
        if try says(member.value, of: key, shown: fullKey(member.key)) { isMultiLabel = true }
      }
      for object in objects {
        if try ConfigurationObject(object, path: fullKey(member.key)).isMultiLabel() { isMultiLabel = true }
      }
    }
    return isMultiLabel
  }

  private func says(
    _ value: JSONValue, of key: String, shown: String
  ) throws(DermaFusionError) -> Bool {
    let word: String
    switch value {
    case .string(let text): word = Self.letters(text)
    case .bool(true): word = "true"
    case .number(let number) where number.double != 0: word = "true"
    default: return false
    }
    if key == "problemtype", word == "regression" {
      throw .invalidModel(
        "\(quoted(shown)) is \(shortened(value.text, to: 80)): the outputs are measurements, and only models of classes can be run"
      )
    }
    let isSaidByKey = key.utf8.holds(Self.multilabel) && !["false", "no", "none", ""].contains(word)
    return isSaidByKey || word.utf8.holds(Self.multilabel)
      || (Self.keysOfLosses.contains(key) && Self.lossesOfSeveralLabels.contains(word))
      || (Self.keysOfActivations.contains(key) && word == "sigmoid")
  }

  /// A text in lower case without anything but letters and digits: `multi-label` and `MultiLabel` are one word.
  private static func letters(_ text: String) -> String {
    String(decoding: text.lowercased().utf8.filter { $0 >= 0x80 || Self.isLetter($0) }, as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
  }
}

extension Collection<UInt8> {
  /// True if these bytes lie in it side by side.
  func holds(_ bytes: some Collection<UInt8>) -> Bool {
    indices.contains { self[$0...].starts(with: bytes) }
  }
}
