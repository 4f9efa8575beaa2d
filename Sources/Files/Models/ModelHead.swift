import SystemModule

// What a configuration of timm, transformers or a training says of the network's last layer. The engine answers with one
// class of several, by softmax. A head that answers otherwise would get numbers that are not what they say.

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

  /// Checks that the outputs are logits of classes of which one is right.
  ///
  /// - Throws: `DermaFusionError` that names the key that says otherwise.
  func requireSingleLabel() throws(DermaFusionError) {
    for member in members {
      let key = Self.letters(member.key)
      if Self.keysOfNames.contains(key) { continue }
      switch member.value {
      case .object:
        try ConfigurationObject(member.value, path: fullKey(member.key)).requireSingleLabel()
      case .array(let elements):
        for element in elements {
          if case .object = element {
            try ConfigurationObject(element, path: fullKey(member.key)).requireSingleLabel()
          }
        }
      default:
        try require(member.value, of: key, shown: fullKey(member.key))
      }
    }
  }

  private func require(_ value: JSONValue, of key: String, shown: String) throws(DermaFusionError) {
    let word: String
    switch value {
    case .string(let text): word = Self.letters(text)
    case .bool(true): word = "true"
    case .number(let number) where number.double != 0: word = "true"
    default: return
    }
    let isSaidByKey = key.utf8.holds(Self.multilabel) && !["false", "no", "none", ""].contains(word)
    if isSaidByKey || word.utf8.holds(Self.multilabel)
      || (Self.keysOfLosses.contains(key) && Self.lossesOfSeveralLabels.contains(word))
    {
      throw Self.refusal(shown, value, "each output is a yes or no of its own (a multi-label head)")
    }
    if Self.keysOfActivations.contains(key), word == "sigmoid" {
      throw Self.refusal(shown, value, "each output is a sigmoid of its own, as in a multi-label head")
    }
    if key == "problemtype", word == "regression" {
      throw Self.refusal(shown, value, "the outputs are measurements and no classes")
    }
  }

  private static func refusal(_ key: String, _ value: JSONValue, _ meaning: String) -> DermaFusionError {
    .invalidModel(
      "\(quoted(key)) is \(shortened(value.text, to: 80)): \(meaning), and only models that choose one class of several, by softmax, can be run"
    )
  }

  /// A single output, whose softmax would be 1 for every image.
  static func singleOutput(_ key: String) -> DermaFusionError {
    .invalidModel(
      "\(quoted(key)) says that there is one output, whose sigmoid is the probability of one class; only models that choose one class of several, by softmax, can be run, so train it with two outputs"
    )
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
