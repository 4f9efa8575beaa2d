import Files
import SystemModule

/// Which row of a table belongs to which image.
///
/// A row is the image's whose name without its ending it has, to the byte. What is left over is matched, in this order, by the
/// name with its ending, by the end of the path, and then by all three in another letter case and in another Unicode form; a
/// row that an earlier form gave to an image is no other image's. Where a form finds two rows for an image, or two images for a
/// row, none of them is taken: each of these images is refused. So is an image that has one row by its name and another by its
/// ending or path, in the same letter case.
package struct ImageMatches: Sendable {
  /// How an image was found besides by its name without the ending.
  enum Form: Int, CaseIterable {
    case name, wholeName, path, letterCase, unicodeForm

    var words: String {
      switch self {
      case .name: "by its name"
      case .wholeName: "by its name with the ending"
      case .path: "by the end of its path"
      case .letterCase: "in another letter case"
      case .unicodeForm: "in another Unicode form"
      }
    }
  }

  package enum Outcome: Sendable, Equatable {
    /// The place among the rows.
    case row(Int)
    case none
    /// Why it cannot be told which row it is, without the table's name.
    case refused(String)
  }

  /// Of each image.
  package private(set) var outcomes: [Outcome]
  /// One image of each row; nil where it belongs to none, or cannot be told.
  package private(set) var imageOfRow: [Int?]
  /// Why it cannot be told which image a row is of; nil where it can, or where the row is of none.
  package private(set) var refusalOfRow: [String?]
  /// Of images that were found in another form than by their names.
  private var forms: [(form: Form, image: Int, row: Int)] = []
  private let images: [String]
  private let rows: [String]

  /// - Parameters:
  ///   - images: their paths; a path that is there twice is one image. `-` has no name.
  ///   - rows: the names in the table, all different.
  package init(images: [String], rows: [String]) {
    self.images = images
    self.rows = rows
    outcomes = images.map { _ in .none }
    imageOfRow = rows.map { _ in nil }
    refusalOfRow = rows.map { _ in nil }
    var firstOfPath: [[UInt8]: Int] = [:]
    var repeated: [(image: Int, first: Int)] = []
    var openImages: [Int] = []
    for (index, path) in images.enumerated() where path.fileName != nil {
      if let first = firstOfPath[path.imageKey] {
        repeated.append((index, first))
      } else {
        firstOfPath[path.imageKey] = index
        openImages.append(index)
      }
    }
    var openRows = Array(rows.indices)
    for fold in Fold.allCases where !openImages.isEmpty {
      for part in Part.allCases where !openRows.isEmpty { match(openImages, &openRows, fold, part) }
      openImages.removeAll { outcomes[$0] != .none }
    }
    for (image, first) in repeated { outcomes[image] = outcomes[first] }
  }

  /// Matches what one form can.
  ///
  /// - Parameter candidates: the images that no other fold has found.
  private mutating func match(
    _ candidates: [Int], _ openRows: inout [Int], _ fold: Fold, _ part: Part
  ) {
    var rowsOfKey: [Fold.Key: [Int]] = [:]
    for row in openRows {
      if let key = part.key(ofRow: rows[row]) { rowsOfKey[fold.key(key), default: []].append(row) }
    }
    var pairs: [(image: Int, rows: [Int])] = []
    var imagesOfRow: [Int: [Int]] = [:]
    for image in candidates {
      if case .refused = outcomes[image] { continue }
      var found = part.keys(ofImage: images[image]).flatMap { rowsOfKey[fold.key($0)] ?? [] }
      if part == .path { found.removeAll { !hasCommonEnd(images[image], rows[$0], fold) } }
      guard !found.isEmpty else { continue }
      for row in found { imagesOfRow[row, default: []].append(image) }
      // The row that another part of its path found.
      if case .row(let row) = outcomes[image] { found.insert(row, at: 0) }
      pairs.append((image, found))
    }
    for (image, found) in pairs {
      if found.count > 1 {
        refuse(
          image, found,
          "the rows '\(rows[found[0]])' and '\(rows[found[1]])' could both be that of \(images[image])")
      } else if let others = imagesOfRow[found[0]], others.count > 1 {
        refuse(
          image, found,
          "the row '\(rows[found[0]])' could be that of \(images[others[0]]) and of \(images[others[1]])")
      } else {
        outcomes[image] = .row(found[0])
        imageOfRow[found[0]] = image
        let form = fold.form ?? part.form
        if form != .name { forms.append((form, image, found[0])) }
      }
    }
    openRows.removeAll { imagesOfRow[$0] != nil }
  }

  private mutating func refuse(_ image: Int, _ rows: [Int], _ reason: String) {
    outcomes[image] = .refused(reason)
    forms.removeAll { $0.image == image }
    for row in rows {
      imageOfRow[row] = nil
      refusalOfRow[row] = reason
    }
  }

  /// Whether the folders of both are the same as far as both have some.
  private func hasCommonEnd(_ image: String, _ row: String, _ fold: Fold) -> Bool {
    zip(Part.components(image).dropLast().reversed(), Part.components(row).dropLast().reversed())
      .allSatisfy { fold.key($0) == fold.key($1) }
  }

  /// A sentence for each form in which images were found besides by their names.
  package func notes(table path: String) -> [String] {
    Form.allCases.compactMap { form in
      let found = forms.filter { $0.form == form }
      guard let first = found.first else { return nil }
      let count = found.count == 1 ? "1 image was" : "\(found.count) images were"
      return """
        in \(path), \(count) found \(form.words): \(images[first.image]) by '\(rows[first.row])'\
        \(found.count == 1 ? "." : ", ...")
        """
    }
  }

  /// Which part of an image's path a row names.
  private enum Part: CaseIterable {
    case name, wholeName, path

    var form: Form {
      switch self {
      case .name: .name
      case .wholeName: .wholeName
      case .path: .path
      }
    }

    func keys(ofImage path: String) -> [String] {
      switch self {
      case .name: path.imageIdentifier.map { [$0] } ?? []
      case .wholeName: path.fileName.map { [$0] } ?? []
      // A name without an ending is both.
      case .path: [path.imageIdentifier, path.fileName].compactMap { $0 }.unique
      }
    }

    func key(ofRow name: String) -> String? {
      guard self == .path else { return name }
      let components = Self.components(name)
      return components.count > 1 ? components.last : nil
    }

    /// Also of a path that Windows wrote.
    static func components(_ path: String) -> [String] {
      path.utf8.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        .compactMap { String($0) }.filter { $0 != "." }
    }
  }

  /// What two names may differ in.
  private enum Fold: CaseIterable {
    case nothing, letterCase, unicodeForm

    /// Strings are equal where they are canonically equivalent, bytes where they are the same.
    struct Key: Hashable {
      let bytes: [UInt8]
      let text: String
    }

    var form: Form? {
      switch self {
      case .nothing: nil
      case .letterCase: .letterCase
      case .unicodeForm: .unicodeForm
      }
    }

    func key(_ name: String) -> Key {
      switch self {
      case .nothing: Key(bytes: name.imageKey, text: "")
      case .letterCase: Key(bytes: name.lowercased().imageKey, text: "")
      case .unicodeForm: Key(bytes: [], text: name.lowercased())
      }
    }
  }
}
