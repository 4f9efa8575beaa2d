import Files
import SystemModule

/// A language that results are worded in. Its file holds all of its texts as JSON, which the browser page's build reads too.
public struct Language: Sendable, RawRepresentable, CaseIterable {
  /// All languages, the original first.
  public static let allCases: [Language] = [english, german, french]

  /// The code of ISO 639, `de`.
  public let rawValue: String
  /// Each text by its path, a name or several with dots between them.
  private var texts: [String: String] { parsedTexts.withLock { $0.value() } }
  /// The sentences of errors by their English words; see ``Sentence``.
  var errors: [String: String] { parsedErrors.withLock { $0.value() } }
  // Parsed when one is first asked for: most programs ask for one language.
  private let parsedTexts, parsedErrors: Locked<Once<[String: String]>>
  private let decimalPoint: Unicode.Scalar
  private let percentSign: String
  /// True if 0 and 1.5 have the form of one; otherwise 1 alone has it.
  private let countsBelowTwoAsOne: Bool

  /// The language with this code; `nil` where there is none.
  public init?(rawValue: String) {
    guard let language = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = language
  }

  /// - Parameters:
  ///   - texts: an object of strings and of objects of them. The core has no files of its own, so they are in the code.
  ///   - errors: an object of strings; none in English, whose sentences stand where an error is found.
  init(
    _ code: String, decimalPoint: Unicode.Scalar, percentSign: String, countsBelowTwoAsOne: Bool,
    texts: StaticString, errors: StaticString = "{}"
  ) {
    rawValue = code
    self.decimalPoint = decimalPoint
    self.percentSign = percentSign
    self.countsBelowTwoAsOne = countsBelowTwoAsOne
    parsedTexts = Locked(.pending { Self.strings(texts) })
    parsedErrors = Locked(.pending { Self.strings(errors) })
  }

  private static func strings(_ json: StaticString) -> [String: String] {
    do throws(DermaFusionError) {
      let bytes = unsafe Array(UnsafeBufferPointer(start: json.utf8Start, count: json.utf8CodeUnitCount))
      var found: [String: String] = [:]
      add(try JSONParser.parse(bytes), path: "", to: &found)
      return found
    } catch {
      preconditionFailure("the texts of a language are no JSON")
    }
  }

  private static func add(_ value: JSONValue, path: String, to texts: inout [String: String]) {
    switch value {
    case .string(let text): texts[path] = text
    case .object(let object):
      for member in object.members {
        add(member.value, path: path.isEmpty ? member.key : "\(path).\(member.key)", to: &texts)
      }
    default: return
    }
  }

  var paths: [String] { texts.keys.sorted() }

  package func text(_ path: String) -> String? { texts[path] }

  /// The text of this path, with `{name}` replaced by values.
  ///
  /// - Parameter count: chooses between the forms `one` and `other`, and is the value of `{count}`.
  package subscript(
    _ path: String, count count: Double? = nil, values values: [String: String] = [:]
  ) -> String {
    var values = values
    if let count { values["count"] = number(JSONValue.decimal(count)) }
    let form = count.flatMap { texts["\(path).\(isOne($0) ? "one" : "other")"] }
    guard let text = form ?? texts[path] else { preconditionFailure("there is no text \(path)") }
    return Self.filled(text, values)
  }

  private func isOne(_ count: Double) -> Bool { countsBelowTwoAsOne ? count.magnitude < 2 : count == 1 }

  /// A value that has braces keeps them.
  static func filled(_ text: String, _ values: [String: String]) -> String {
    var filled = ""
    var name: String? = nil
    for scalar in text.unicodeScalars {
      switch (scalar, name) {
      case ("{", _): name = ""
      case ("}", let known?):
        filled += values[known] ?? "{\(known)}"
        name = nil
      case (_, nil): filled.unicodeScalars.append(scalar)
      default: name?.unicodeScalars.append(scalar)
      }
    }
    return filled
  }

  /// A number or a share as English writes it, `<0.1%`, in this language: `<0,1 %`.
  package func number(_ english: String) -> String {
    var text = ""
    for scalar in english.unicodeScalars {
      switch scalar {
      case ".": text.unicodeScalars.append(decimalPoint)
      case "%": text += percentSign
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}

extension Language: Hashable {
  /// True if both have one code.
  public static func == (left: Language, right: Language) -> Bool { left.rawValue == right.rawValue }
  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension Language: CustomStringConvertible {
  /// The code.
  public var description: String { rawValue }
}

extension Language {
  /// The language's own name for a class if it has one, otherwise the model's. English names are the model's.
  package func name(_ label: LesionLabel) -> String {
    self == .english ? label.name : texts["classes.\(label.id)"] ?? label.name
  }

  /// `Melanom (mel)`; the id alone where it is the name too.
  package func description(_ label: LesionLabel) -> String {
    let name = name(label)
    return name == label.id ? name : "\(name) (\(label.id))"
  }

  /// The disclaimer in this language; nil in English, which has the disclaimer itself.
  public var disclaimerTranslation: String? { self == .english ? nil : self["disclaimer.text"] }

  /// The disclaimer, word for word, behind its translation where the language is another. Show both.
  public var disclaimer: String { disclaimerParagraphs.joined(separator: " ") }

  package var disclaimerParagraphs: [String] {
    guard let translation = disclaimerTranslation else { return [Wording.disclaimer] }
    return [translation, "\(self["disclaimer.original"]) \(Wording.disclaimer)"]
  }
}
