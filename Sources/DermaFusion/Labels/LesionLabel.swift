import Files

/// A class that a model tells apart, as the model's folder describes it.
public struct LesionLabel: Sendable, Hashable {
  /// What a lesion of a class is.
  public typealias Malignancy = Files.Malignancy

  /// The place among the model's outputs, from 0.
  public let index: Int
  /// The short name that programs and tables use, `mel`.
  public let id: String
  /// The name in words, `Melanoma`; the id where the model gives no other.
  public let name: String
  /// `nil` in every label of a model that does not say.
  public let malignancy: Malignancy?

  /// Whether the class is melanoma, as its id says: `mel` or `melanoma` in any letter case.
  public var isMelanoma: Bool { ["mel", "melanoma"].contains(id.lowercased()) }
}

/// The classes of a model in the order of its outputs, 2 to 1000 of them with different ids.
public struct Labels: Sendable, Hashable {
  private let labels: [LesionLabel]

  package init(_ classes: [ModelConfiguration.Class]) {
    precondition(ModelConfiguration.classCounts.contains(classes.count), "\(classes.count) classes")
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

  /// Whether the model says which of its classes are malignant, so that there is a risk.
  public var tellMalignancy: Bool { labels[0].malignancy != nil }

  /// The ids in order.
  public var ids: [String] { labels.map { $0.id } }
}

extension Labels {
  /// The class of this id or name in any letter case, or of the ISIC archive's word for it; `nil` unless it is one class.
  package func label(inWords text: String) -> LesionLabel? {
    let lowercase = text.lowercased()
    let wanted = [lowercase] + (Self.words[lowercase] ?? [])
    let found = filter { wanted.contains($0.id.lowercased()) || $0.name.lowercased() == lowercase }
    return self[text] ?? (found.count == 1 ? found[0] : nil)
  }

  /// The ISIC archive's words for classes, and its challenge's AK, with the ids that models give them.
  private static let words: [String: [String]] = [
    "melanoma": ["mel"], "nevus": ["nv"], "basal cell carcinoma": ["bcc"],
    "actinic keratosis": ["akiec", "ak"], "ak": ["akiec"], "pigmented benign keratosis": ["bkl"],
    "seborrheic keratosis": ["bkl"], "solar lentigo": ["bkl"], "lichenoid keratosis": ["bkl"],
    "dermatofibroma": ["df"], "vascular lesion": ["vasc"], "squamous cell carcinoma": ["scc"],
  ]

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
    /// What breaks a rule of this type is an error.
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
