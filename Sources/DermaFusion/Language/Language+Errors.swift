import Files
import SystemModule

extension DermaFusionError {
  /// The same error in a language; in English where the language has no words for it. Files and programs that developers meet
  /// have English words only.
  public func worded(in language: Language) -> DermaFusionError {
    // The English error keeps its sentence, of which another language can still make words.
    if language == .english { return self }
    return DermaFusionError(
      code, message: Sentence(language.words(of: fault)), remedy: Sentence(language.words(of: advice)))
  }

  /// The reason for having no result, for programs that get all else as JSON.
  ///
  /// - Parameter languages: one, in which the error is; if there are several, it is in English and `messages` has the message
  ///   in each.
  package func json(in languages: [Language] = [.english]) -> JSONValue {
    let error = languages.count == 1 ? worded(in: languages[0]) : self
    var members: [(key: String, value: JSONValue)] = [
      ("code", .string(code.description)), ("message", .string(error.message)),
      ("remedy", .string(error.remedy)),
    ]
    if languages.count > 1 { members.append(("messages", languages.json(of: fault))) }
    return .object([("error", .object(members))])
  }
}

extension [Language] {
  /// A sentence in the only language, or in each of several by its code.
  package func json(of sentence: Sentence) -> JSONValue {
    count == 1
      ? .string(self[0].words(of: sentence))
      : .object(map { (key: $0.rawValue, value: .string($0.words(of: sentence))) })
  }
}

extension Language {
  /// The value of `body`; its error is in this language.
  package func wording<Value>(
    _ body: () throws(DermaFusionError) -> Value
  ) throws(DermaFusionError) -> Value {
    do throws(DermaFusionError) { return try body() } catch { throw error.worded(in: self) }
  }

  /// A sentence in this language; in English if the language lacks words for any part of it.
  package func words(of sentence: Sentence) -> String {
    self == .english ? sentence.description : translation(of: sentence) ?? sentence.description
  }

  private func translation(of sentence: Sentence) -> String? {
    var values: [String: String] = [:]
    for part in sentence.parts {
      switch part {
      case .words: continue
      case .value(let value): values["\(values.count + 1)"] = value
      case .number(let number): values["\(values.count + 1)"] = self.number(number)
      case .sentence(let inner):
        guard let words = translation(of: inner) else { return nil }
        values["\(values.count + 1)"] = words
      }
    }
    let pattern = sentence.pattern
    let isWordless = pattern.utf8.allSatisfy {
      $0 | 0x20 < UInt8(ascii: "a") || $0 | 0x20 > UInt8(ascii: "z")
    }
    guard let words = errors[pattern] ?? (isWordless ? pattern : nil) else { return nil }
    return Self.filled(words, values)
  }
}

extension Sentence {
  /// Its words, by which other languages find theirs: `line {1}: {2}`.
  var pattern: String {
    var (pattern, count) = ("", 0)
    for part in parts {
      if case .words(let words) = part {
        pattern += words
      } else {
        count += 1
        pattern += "{\(count)}"
      }
    }
    return pattern
  }
}
