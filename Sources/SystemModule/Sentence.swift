/// A sentence of an error: English words with values between them.
///
/// The English words stand where the fault is found, once. Other languages have their own by the English ones (`Language`), so a
/// sentence is written like any string, and its values are told from its words.
package struct Sentence: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
  package enum Part: Sendable {
    case words(String)
    /// A name, a whole number or words of others, the same in every language.
    case value(String)
    /// A number that may have a decimal point, which some languages write otherwise.
    case number(String)
    case sentence(Sentence)
  }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    // Hundreds of places write sentences: inlined, they would make the page's engine larger by more than 2 %.
    package init(literalCapacity: Int, interpolationCount: Int) {}
    @inline(never) package mutating func appendLiteral(_ words: String) {
      if !words.isEmpty { parts.append(.words(words)) }
    }
    @inline(never) package mutating func appendInterpolation(_ value: String) { parts.append(.value(value)) }
    @inline(never) package mutating func appendInterpolation(_ sentence: Sentence) {
      parts.append(.sentence(sentence))
    }
    package mutating func appendInterpolation(_ number: Double) { parts.append(.number(number.description)) }
    package mutating func appendInterpolation(_ number: Float) { parts.append(.number(number.description)) }
    package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      appendInterpolation(value.description)
    }
  }

  package let parts: [Part]

  @inline(never) package init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }
  @inline(never) package init(stringLiteral words: String) { parts = [.words(words)] }
  /// Words that no language translates: another program's, or for developers.
  package init(_ text: String) { parts = [.value(text)] }

  package static func + (left: Sentence, right: Sentence) -> Sentence {
    Sentence(parts: left.parts + right.parts)
  }

  package init(parts: [Part]) { self.parts = parts }

  package var description: String {
    var text = ""
    for part in parts {
      switch part {
      case .words(let words), .value(let words), .number(let words): text += words
      case .sentence(let sentence): text += sentence.description
      }
    }
    return text
  }
}

extension Sentence: Equatable {
  /// True if the English sentences are the same.
  package static func == (left: Sentence, right: Sentence) -> Bool { left.description == right.description }
}
