/// The rules of a model's configuration (`config.json`), one case each. Keys are given with the keys around them:
/// `preprocessing.color_constancy.p`.
public enum ConfigurationError: Error, Equatable, Sendable {
  /// The file is not JSON.
  case json(JSONError)
  /// A required key is missing.
  case missingKey(String)
  /// A key that the configuration does not know.
  case unknownKey(String)
  /// The key's value is of another type than required; both in words.
  case wrongType(key: String, expected: String, found: String)
  /// The key's number breaks its rule.
  case outOfRange(key: String, value: String, rule: String)
  /// The key's string is not one of those allowed.
  case unknownValue(key: String, value: String, allowed: [String])
  /// The key's string is empty or has control characters.
  case malformedText(key: String)
  /// The key's array has another number of elements than required.
  case wrongCount(key: String, expected: String, found: Int)
  /// Two classes have one name.
  case duplicateClass(String)
  /// The vocabulary of a metadata field departs from the one this software encodes, first at this index; a word is
  /// nil where one list is shorter.
  case vocabularyDiffers(key: String, index: Int, expected: String?, found: String?)
}

extension ConfigurationError: CustomStringConvertible {
  /// The key, its value and the broken rule, in one line.
  public var description: String {
    switch self {
    case .json(let error):
      "\(error)"
    case .missingKey(let key):
      "the key \(quoted(key)) is missing"
    case .unknownKey(let key):
      "the key \(quoted(key)) is unknown"
    case .wrongType(let key, let expected, let found):
      "\(quoted(key)) must be \(expected), and is \(found)"
    case .outOfRange(let key, let value, let rule):
      "\(quoted(key)) is \(value), and must be \(rule)"
    case .unknownValue(let key, let value, let allowed):
      "\(quoted(key)) is \(quoted(value)), and must be one of \(allowed.joined(separator: ", "))"
    case .malformedText(let key):
      "\(quoted(key)) must be a text of at least one character, without control characters"
    case .wrongCount(let key, let expected, let found):
      "\(quoted(key)) must have \(expected), and has \(found)"
    case .duplicateClass(let name):
      "\"classes\" has \(quoted(name)) twice"
    case .vocabularyDiffers(let key, let index, let expected, let found):
      "\(quoted(key)) has \(found.map(quoted) ?? "nothing") at index \(index), and this software encodes "
        + "\(expected.map(quoted) ?? "nothing") there"
    }
  }
}
