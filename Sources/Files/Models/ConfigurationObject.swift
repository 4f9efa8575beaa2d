import SystemModule

/// One object of a configuration while it is read: every getter checks type and range and names the key in full, and
/// in the end it can be checked that no key is left that was not asked for.
package struct ConfigurationObject {
  /// A rule for a number. Whatever the rule, a number must be finite as Float32, in which the engine computes.
  package struct NumberRule: Sendable {
    let words: Sentence
    let allows: @Sendable (Double) -> Bool

    package static let finite = NumberRule(words: "a number that Float32 holds, up to 3.4e38") { _ in true }
    // Above 0 as Float32 too, which takes the smallest numbers for 0.
    static let positive = NumberRule(words: "above 0") { Float($0) > 0 }
    // The numbers that pixels of 0...1 are shifted and divided by: beyond these bounds Float32 overflows or loses the image.
    static let pixelShift = NumberRule(words: "in \("-1e6...1e6")") { (-1e6...1e6).contains($0) }
    static let pixelDivisor = NumberRule(words: "in \("1e-6...1e6")") { (1e-6...1e6).contains($0) }
    package static let probability = NumberRule(words: "in \("0...1")") { (0...1).contains($0) }
    static let voteWeight = NumberRule(words: "in \("1e-6...1e6")") { (1e-6...1e6).contains($0) }
    // A share of an image's shorter side; a smaller one would ask for images of many times the network's size.
    static let cropShare = NumberRule(words: "in \("0.1...1")") { (0.1...1).contains($0) }
    static let upToOne = NumberRule(words: "above 0 and at most 1") { Float($0) > 0 && $0 <= 1 }
    static let minkowskiExponent = NumberRule(words: "in \("1...100")") { (1...100).contains($0) }
    // Beyond these bounds Float32 logits overflow or all classes become equal.
    static let temperature = NumberRule(words: "above 0, in \("0.001...1000")") {
      (0.001...1000).contains($0)
    }
  }

  /// The most characters of a text: names stand in tables, in pictures and on lines of their own.
  static let textLimit = 200

  private let object: JSONObject
  private let path: String
  private var asked: Set<String> = []

  init(_ value: JSONValue, path: String) throws(DermaFusionError) {
    guard case .object(let object) = value else {
      throw path.isEmpty
        ? .invalidModel("\"the configuration\" must be an object, and is \(value.typeInWords)")
        : .wrongType(key: path, expected: "an object", found: value)
    }
    self.object = object
    self.path = path
  }

  /// The object that a file is.
  package init(parsing bytes: [UInt8]) throws(DermaFusionError) {
    let json: JSONValue
    do throws(DermaFusionError) {
      json = try JSONParser.parse(bytes)
    } catch {
      throw error.inModel
    }
    try self.init(json, path: "")
  }

  package subscript(key: String) -> JSONValue? {
    object[key]
  }

  /// True if the key is there, with another value than null.
  package func hasValue(_ key: String) -> Bool {
    object[key].map { $0 != .null } ?? false
  }

  /// In the order of the file.
  var members: [JSONObject.Member] { object.members }

  /// Checks that every key has been asked for.
  package func requireNoOtherKeys() throws(DermaFusionError) {
    for member in object.members where !asked.contains(member.key) {
      throw .invalidModel("the key \(quoted(fullKey(member.key))) is unknown")
    }
  }

  /// The version of the format that this software reads.
  private static let formatVersion = 1

  mutating func requireFormatVersion() throws(DermaFusionError) {
    let version = try integer("format_version", in: 0...Int.max)
    guard version == Self.formatVersion else {
      throw .outOfRange(
        key: "format_version", value: "\(version)",
        rule: "\(Self.formatVersion), the version this software reads")
    }
  }

  /// Allows a key, whatever its value.
  mutating func ignore(_ key: String) {
    asked.insert(key)
  }

  package mutating func text(_ key: String) throws(DermaFusionError) -> String {
    try Self.text(try value(key), key: fullKey(key))
  }

  package mutating func texts(_ key: String) throws(DermaFusionError) -> [String] {
    try elements(key) { (element, key) throws(DermaFusionError) in try Self.text(element, key: key()) }
  }

  /// True if the key holds an array that begins with a string.
  func holdsTexts(_ key: String) -> Bool {
    guard case .array(let elements) = object[key], case .string = elements.first else { return false }
    return true
  }

  package mutating func textsByKey(_ key: String) throws(DermaFusionError) -> [String: String] {
    let object = try object(key)
    var texts: [String: String] = [:]
    for member in object.object.members {
      texts[member.key] = try Self.text(member.value, key: object.fullKey(member.key))
    }
    return texts
  }

  mutating func choice(_ key: String, of allowed: [String]) throws(DermaFusionError) -> String {
    let text = try text(key)
    guard allowed.contains(text) else {
      throw .unknownValue(key: fullKey(key), value: text, allowed: allowed)
    }
    return text
  }

  mutating func choice<Choice>(_ key: String) throws(DermaFusionError) -> Choice
  where Choice: RawRepresentable<String> & CaseIterable {
    Choice(rawValue: try choice(key, of: Choice.allCases.map { $0.rawValue }))!
  }

  package mutating func integer(_ key: String, in range: ClosedRange<Int>) throws(DermaFusionError) -> Int {
    try Self.integer(try value(key), key: fullKey(key), in: range)
  }

  package mutating func integers(
    _ key: String, in range: ClosedRange<Int>
  ) throws(DermaFusionError) -> [Int] {
    try elements(key) { (element, key) throws(DermaFusionError) in
      try Self.integer(element, key: key(), in: range)
    }
  }

  package mutating func number(_ key: String, _ rule: NumberRule) throws(DermaFusionError) -> Double {
    try Self.number(try value(key), key: fullKey(key), rule)
  }

  /// The number under a key; nil where there is no such key.
  mutating func optionalNumber(_ key: String, _ rule: NumberRule) throws(DermaFusionError) -> Double? {
    object[key] == nil ? nil : try number(key, rule)
  }

  /// The number under a key that must be there; nil for null.
  package mutating func numberOrNull(_ key: String, _ rule: NumberRule) throws(DermaFusionError) -> Double? {
    try value(key) == .null ? nil : number(key, rule)
  }

  /// - Parameter count: The number that there must be; nil: any number.
  package mutating func numbers(
    _ key: String, count: Int? = nil, _ rule: NumberRule
  ) throws(DermaFusionError) -> [Double] {
    try elements(key, count: count) { (element, key) throws(DermaFusionError) in
      try Self.number(element, key: key(), rule)
    }
  }

  package mutating func object(_ key: String) throws(DermaFusionError) -> ConfigurationObject {
    try ConfigurationObject(try value(key), path: fullKey(key))
  }

  package mutating func objects(_ key: String) throws(DermaFusionError) -> [ConfigurationObject] {
    try elements(key) { (element, key) throws(DermaFusionError) in
      try ConfigurationObject(element, path: key())
    }
  }

  mutating func objectOrNull(_ key: String) throws(DermaFusionError) -> ConfigurationObject? {
    try value(key) == .null ? nil : object(key)
  }

}

extension ConfigurationObject {
  private mutating func value(_ key: String) throws(DermaFusionError) -> JSONValue {
    asked.insert(key)
    guard let value = object[key] else { throw .missingKey(fullKey(key)) }
    return value
  }

  /// The key with those around it, as errors name it.
  package func fullKey(_ key: String) -> String {
    path.isEmpty ? key : "\(path).\(key)"
  }

  /// The results of `read` for each element of an array, which has any number of them if `count` is nil.
  private mutating func elements<Element>(
    _ key: String, count: Int? = nil,
    _ read: (JSONValue, _ key: () -> String) throws(DermaFusionError) -> Element
  ) throws(DermaFusionError) -> [Element] {
    let (value, path) = (try value(key), fullKey(key))
    guard case .array(let elements) = value else {
      throw .wrongType(key: path, expected: "an array", found: value)
    }
    if let count, elements.count != count {
      throw .wrongCount(key: path, expected: "\(count) numbers", found: elements.count)
    }
    return try elements.enumerated().map { (index, element) throws(DermaFusionError) in
      try read(element) { "\(path)[\(index)]" }
    }
  }

  // Thousands of elements are read without an error that would name them.
  private static func text(_ value: JSONValue, key: @autoclosure () -> String) throws(DermaFusionError)
    -> String
  {
    guard case .string(let text) = value else {
      throw .wrongType(key: key(), expected: "a string", found: value)
    }
    let scalars = text.unicodeScalars
    guard !text.isEmpty, scalars.prefix(textLimit + 1).count <= textLimit,
      !scalars.contains(where: { $0.isUnfitForNames })
    else {
      throw .invalidModel(
        "\(quoted(key())) must be a text of 1 to \(textLimit) characters, without control characters, marks of the "
          + "direction of writing and code points that are no characters")
    }
    return text
  }

  private static func integer(
    _ value: JSONValue, key: @autoclosure () -> String, in range: ClosedRange<Int>
  ) throws(DermaFusionError) -> Int {
    guard case .number(let number) = value else {
      throw .wrongType(key: key(), expected: "an integer", found: value)
    }
    guard let integer = number.integer, range.contains(integer) else {
      let rule: Sentence =
        range.upperBound == .max
        ? "an integer from \(range.lowerBound) up"
        : "an integer in \(range.lowerBound)...\(range.upperBound)"
      throw .outOfRange(key: key(), value: number.literal, rule: rule)
    }
    return integer
  }

  private static func number(
    _ value: JSONValue, key: @autoclosure () -> String, _ rule: NumberRule
  ) throws(DermaFusionError) -> Double {
    guard case .number(let number) = value else {
      throw .wrongType(key: key(), expected: "a number", found: value)
    }
    guard let double = number.double, Float(double).isFinite, rule.allows(double) else {
      throw .outOfRange(key: key(), value: number.literal, rule: rule.words)
    }
    return double
  }
}
