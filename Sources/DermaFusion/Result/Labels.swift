import Files
import SystemModule
import TensorModule

/// A class that a model tells apart, as the model's folder describes it.
public struct LesionLabel: Sendable, Hashable {
  /// Malignant, pre-malignant or benign.
  public typealias Malignancy = Files.Malignancy

  /// The place among the model's outputs, from 0.
  public let index: Int
  /// The short name that programs and tables use, `mel`.
  public let id: String
  /// The name in words, `Melanoma`; the id where the model gives no other.
  public let name: String
  /// `nil` in every label of a model that does not say.
  public let malignancy: Malignancy?

  /// True if the class is melanoma, as its id says: `mel` or `melanoma` in any letter case.
  public var isMelanoma: Bool { ["mel", "melanoma"].contains(id.lowercased()) }
}

/// The classes of a model in the order of its outputs, 2 to 1000 of them with different ids; none of a network that only gives
/// features.
public struct Labels: Sendable, Hashable {
  private let labels: [LesionLabel]

  package init(_ classes: [ModelConfiguration.Class]) {
    precondition(
      classes.isEmpty || ModelConfiguration.classCounts.contains(classes.count), "\(classes.count) classes")
    labels = classes.enumerated().map { index, item in
      LesionLabel(index: index, id: item.id, name: item.name, malignancy: item.malignancy)
    }
  }

  /// The seven classes of HAM10000 in alphabetical order, those of the model that comes with this package.
  public static let ham10000 = Labels(ModelConfiguration.ham10000Classes)

  /// The label with this id, to the letter; `nil` when there is none.
  public subscript(id: String) -> LesionLabel? { labels.first { $0.id == id } }

  /// Melanoma, where it is one of the classes.
  public var melanoma: LesionLabel? { labels.first { $0.isMelanoma } }

  /// True if the model says which of its classes are malignant, so that there is a risk.
  public var tellMalignancy: Bool { labels.first?.malignancy != nil }

  /// The ids in order.
  public var ids: [String] { labels.map { $0.id } }
}

extension Labels {
  /// The class of this id or name in any letter case, or of the ISIC archive's word for it; `nil` unless it is one class.
  package func label(inWords text: String) -> LesionLabel? {
    let lowercase = text.lowercased()
    if let label = self[text] { return label }
    let named = filter { $0.id.lowercased() == lowercase || $0.name.lowercased() == lowercase }
    if !named.isEmpty { return named.count == 1 ? named[0] : nil }
    // The first id that this model has, if models give the class several.
    for id in ISICDiagnoses.ids(ofWord: lowercase) {
      let found = filter { $0.id.lowercased() == id }
      if !found.isEmpty { return found.count == 1 ? found[0] : nil }
    }
    return namedOrOther(lowercase)
  }

  /// The class that a word means, of two of which the second is any but the first: for a model of `melanoma` and
  /// `other`, `mel` is the first and `nv` the second.
  private func namedOrOther(_ word: String) -> LesionLabel? {
    func meaning(_ word: String) -> [String] {
      Self.ham10000[word] != nil ? [word] : ISICDiagnoses.ids(ofWord: word)
    }
    guard count == 2, labels[1].id == ModelConfiguration.otherClass else { return nil }
    let (named, found) = (meaning(labels[0].id.lowercased()), meaning(word))
    if named.isEmpty || found.isEmpty { return nil }
    return labels[named.contains { found.contains($0) } ? 0 : 1]
  }

  /// HAM10000's seven, in the order of the names, if all names are words for them and the model does not say what is malignant
  /// itself; otherwise the classes unchanged. Of a
  /// network with one output, the class that it names if that is a malignant or pre-malignant one, and another.
  static func known(by configuration: ModelConfiguration) -> [ModelConfiguration.Class] {
    let classes = configuration.classes
    if classes.first?.malignancy != nil { return classes }
    if configuration.outputs == .yesOrNo { return known(byOne: classes) }
    guard classes.count == ham10000.count else { return classes }
    let indices = classes.compactMap { ham10000.label(inWords: $0.id)?.index }
    guard Set(indices).count == classes.count else { return classes }
    return zip(indices, classes).map { index, given in
      var label = ModelConfiguration.ham10000Classes[index]
      if given.name != given.id { label.name = given.name }
      return label
    }
  }

  /// Nobody says if anything but the named class is dangerous; so `other` raises no risk, and a class that is not
  /// dangerous itself leaves it unjudged.
  private static func known(byOne classes: [ModelConfiguration.Class]) -> [ModelConfiguration.Class] {
    var (named, other) = (classes[0], classes[1])
    let label = ham10000.label(inWords: named.id)
    if let label, named.name == named.id { named.name = label.name }
    named.malignancy = label?.malignancy ?? Malignancy(rawValue: named.id.lowercased())
    if named.malignancy == .benign { named.malignancy = nil }
    other.malignancy = named.malignancy == nil ? nil : .benign
    return [named, other]
  }

  /// Columns of the ISIC challenges and of MILK10k: classes that a model may lack.
  package static let challengeColumns = [
    "MEL", "NV", "BCC", "AK", "AKIEC", "BKL", "DF", "VASC", "SCC", "SCCKA", "INF", "MAL_OTH", "BEN_OTH",
    "UNK",
  ]
}

extension Labels: RandomAccessCollection {
  /// 0
  public var startIndex: Int { 0 }
  /// The number of classes.
  public var endIndex: Int { labels.count }
  /// The class with this place among the outputs.
  public subscript(position: Int) -> LesionLabel { labels[position] }
}

extension LesionLabel: CustomStringConvertible {
  /// `Melanoma (mel)`; the id alone where it is the name too.
  public var description: String { name == id ? id : "\(name) (\(id))" }
}

extension Labels: CustomStringConvertible {
  /// The ids: `akiec, bcc, bkl, df, mel, nv, vasc`; of more than twelve the first.
  public var description: String {
    ids.prefix(12).joined(separator: ", ") + (count > 12 ? ", ... (\(count))" : "")
  }
}

#if !hasFeature(Embedded)
  extension LesionLabel: Codable {}

  extension Labels: Codable {
    /// Values that break a rule of this type are an error.
    public init(from decoder: any Decoder) throws {
      let labels = try [LesionLabel](from: decoder)
      let isValid =
        ModelConfiguration.classCounts.contains(labels.count)
        && labels.enumerated().allSatisfy { $0 == $1.index }
        && Set(labels.map { $0.id }).count == labels.count
        && labels.allSatisfy { ($0.malignancy == nil) == (labels[0].malignancy == nil) }
      guard isValid else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "these are not the labels of a model"))
      }
      self.labels = labels
    }

    /// Writes what ``init(from:)`` reads.
    public func encode(to encoder: any Encoder) throws { try labels.encode(to: encoder) }
  }
#endif

/// One value for each class of a model.
public struct ClassScores: Sendable, Equatable {
  /// The model's classes.
  public let labels: Labels
  /// The values in the order of ``labels``.
  public let values: [Float]

  package init(_ values: [Float], labels: Labels) {
    precondition(values.count == labels.count, "\(values.count) scores for \(labels.count) classes")
    self.labels = labels
    self.values = values
  }

  /// The value of one class.
  ///
  /// - Precondition: the label is one of ``labels``.
  public subscript(label: LesionLabel) -> Float {
    let isKnown = labels.indices.contains(label.index) && labels[label.index] == label
    precondition(isKnown, "\(label.id) is not one of these \(labels.count) classes")
    return values[label.index]
  }

  /// The value of the class with this id; `nil` when there is none.
  public subscript(id: String) -> Float? { labels[id].map { self[$0] } }

  /// The class with the greatest value; the first of them when several share it.
  public var highest: LesionLabel {
    var best = 0
    for index in values.indices where values[index] > values[best] { best = index }
    return labels[best]
  }

  /// The classes from the greatest value to the smallest; equal values keep the order of the classes.
  public var ranked: [LesionLabel] {
    labels.sorted { (self[$0], -$0.index) > (self[$1], -$1.index) }
  }

  /// exp(value / temperature), divided by the sum over the classes, computed in Double and rounded once.
  ///
  /// - Parameter temperature: above 0; 1 leaves the logits as they are, more makes the result less certain.
  /// - Precondition: every value is finite.
  public func softmax(temperature: Double) -> ClassScores {
    ClassScores(Softmax.probabilities(values, temperature: temperature), labels: labels)
  }

  /// 1 / (1 + exp(-value / temperature)) of each class, computed in Double and rounded once; see ``softmax(temperature:)``.
  public func sigmoids(temperature: Double) -> ClassScores {
    ClassScores(
      values.map { Float(1 / (1 + Mathematics.exp(-Double($0) / temperature))) }, labels: labels)
  }
}

extension ClassScores: CustomStringConvertible {
  /// The three greatest values: `nv 0.87, mel 0.05, bkl 0.04`.
  public var description: String {
    ranked.prefix(3).map { "\($0.id) \(Double(self[$0]).fixed(digits: 2))" }.joined(separator: ", ")
  }
}

#if !hasFeature(Embedded)
  extension ClassScores: Codable {
    private enum CodingKeys: String, CodingKey { case labels, values }

    /// Values that break a rule of this type are an error.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      labels = try container.decode(Labels.self, forKey: .labels)
      values = try container.decode([Float].self, forKey: .values)
      guard values.count == labels.count else {
        throw DecodingError.dataCorruptedError(
          forKey: .values, in: container,
          debugDescription: "\(values.count) values for \(labels.count) labels")
      }
      guard values.allSatisfy({ $0.isFinite }) else {
        throw DecodingError.dataCorruptedError(
          forKey: .values, in: container, debugDescription: "the values are not all finite")
      }
    }
  }
#endif
