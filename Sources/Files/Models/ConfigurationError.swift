/// The rules of a model's configuration (`config.json`), one case each. Keys are given with the keys around them:
/// `preprocessing.color_constancy.p`.
package enum ConfigurationError: Error, Equatable, Sendable {
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
  /// The key's string is empty, too long, or has characters that are unfit for names.
  case malformedText(key: String)
  /// The key's array has another number of elements than required.
  case wrongCount(key: String, expected: String, found: Int)
  /// Two classes have one name.
  case duplicateClass(String)
  /// One class says how malignant it is, and another does not.
  case partialMalignancy(present: String, missing: String)
  /// The configuration is an ensemble's, where that of a single model is required.
  case listsMembers
  /// The key's string must name a folder directly below the ensemble's.
  case notAPlainName(key: String, value: String)
  /// Two members of an ensemble have one folder.
  case duplicateMember(key: String, folder: String)
  /// What the key says of an ensemble's member is not what it says of the first member; both in words.
  case unlikeFirstMember(key: String, found: String, first: String)
  /// The vocabulary of a metadata field departs from the one this software encodes, first at this index; a word is
  /// nil where one list is shorter.
  case vocabularyDiffers(key: String, index: Int, expected: String?, found: String?)
}

extension ConfigurationError: CustomStringConvertible {
  /// The key, its value and the broken rule, in one line.
  package var description: String {
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
      "\(quoted(key)) is \(shortened(value, to: 40)), and must be \(rule)"
    case .unknownValue(let key, let value, let allowed):
      "\(quoted(key)) is \(quoted(value)), and must be one of \(allowed.joined(separator: ", "))"
    case .malformedText(let key):
      "\(quoted(key)) must be a text of 1 to \(ConfigurationObject.textLimit) characters, without control characters, "
        + "marks of the direction of writing and code points that are no characters"
    case .wrongCount(let key, let expected, let found):
      "\(quoted(key)) must have \(expected), and has \(found)"
    case .duplicateClass(let name):
      "\"classes\" has \(quoted(name)) twice"
    case .partialMalignancy(let present, let missing):
      "\"classes\" tells the malignancy of \(quoted(present)) and not that of \(quoted(missing)); it must tell all or none"
    case .listsMembers:
      "the key \"members\" makes this an ensemble, and a single model is required here, such as one of its members"
    case .notAPlainName(let key, let value):
      "\(quoted(key)) is \(quoted(value)), and must be the plain name of a folder beside this file"
    case .duplicateMember(let key, let folder):
      "\(quoted(key)) is \(quoted(folder)), which another member has already"
    case .unlikeFirstMember(let key, let found, let first):
      "\(quoted(key)) is \(shortened(found, to: 400)), and must be \(shortened(first, to: 400)), as in the ensemble's "
        + "first member"
    case .vocabularyDiffers(let key, let index, let expected, let found):
      "\(quoted(key)) has \(found.map(quoted) ?? "nothing") at index \(index), and this software encodes "
        + "\(expected.map(quoted) ?? "nothing") there"
    }
  }
}
