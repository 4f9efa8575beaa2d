import Files
import SystemModule

/// Which row of a table belongs to which image.
///
/// A row names an image in one of the forms of ``Form``. A stronger form goes before a weaker one over all images and rows, and
/// what it matched takes part in no weaker one. Within a form the images of the earlier folder go before. If a form then finds two
/// rows for an image, or two images for a row, all of them are refused. A row with a folder never belongs to an image that is
/// known to lie in another folder. Images of one path are one file.
package struct RowAssignment: Sendable {
  /// The ways to name an image, strongest first.
  enum Form: CaseIterable {
    case path, wholeName, name, pathEnd, letterCase, unicodeForm

    fileprivate var parts: [NamedPart] {
      switch self {
      case .path: [.path]
      case .wholeName: [.name]
      case .name: [.identifier]
      case .pathEnd: NamedPart.allCases.filter { $0.needsFolder }
      case .letterCase, .unicodeForm: NamedPart.allCases
      }
    }

    fileprivate var fold: NameFold {
      switch self {
      case .letterCase: .letterCase
      case .unicodeForm: .unicodeForm
      default: .nothing
      }
    }

    fileprivate var words: Sentence {
      switch self {
      case .path: "by the path"
      case .wholeName: "by the name with the ending"
      case .name: "by the name"
      case .pathEnd: "by the end of the path"
      case .letterCase: "in another letter case"
      case .unicodeForm: "in another Unicode form"
      }
    }
  }

  package enum Outcome: Sendable, Equatable {
    /// The place among the rows.
    case row(Int)
    case none
    /// The reason why nobody can tell which row it is, without the table's name.
    case refused(Sentence)
  }

  /// Each image's.
  package private(set) var outcomes: [Outcome]
  private let images: [ListedImage]
  private let rows: TableNames
  private let files: [ImageFile]
  /// Each file's: the row and the form of its name, or the place of the reason among ``reasons``.
  private var found: [(row: Int, form: Form)?]
  private var refused: [Int?]
  private var reasons: [Sentence] = []
  /// The rows that belong to a file or are refused, in their order.
  private var usedRows: [(row: UInt32, file: Int32, reason: Int32)] = []
  private var openFiles: [Int]
  private var openRows: [UInt32] = []
  /// The numbers of parts that rows with a folder have.
  private var depths: [Int] = []
  /// Rows that name an image less exactly than its own row does: how many, and the first of them.
  private var overlooked: (count: Int, row: Int, file: Int)?
  /// A row that may be that of an image without one, but for the digits that a spreadsheet took.
  private var roundedRow: Int?

  /// - Parameters:
  ///   - images: their paths; `-` has no name.
  ///   - rows: all different where they are not empty.
  ///   - folder: the absolute path of the folder in which relative paths begin; nil if nobody knows where the images lie.
  package init(images: [ListedImage], rows: TableNames, folder: String? = nil) {
    self.images = images
    self.rows = rows
    let base = folder.map { Array($0.utf8)[...] }
    var files: [ImageFile] = []
    var places: [[UInt8]: Int] = [:]
    let fileOfImage = images.indices.map { place -> Int? in
      guard let file = ImageFile(images, place, folder: base) else { return nil }
      guard let first = places[file.identity] else {
        places[file.identity] = files.count
        files.append(file)
        return files.count - 1
      }
      files[first].add(images[place])
      return first
    }
    self.files = files
    outcomes = []
    found = files.map { _ in nil }
    refused = files.map { _ in nil }
    openFiles = Array(files.indices)
    (openRows, depths) = RowFilter(files).rows(of: rows)
    for form in Form.allCases where !openFiles.isEmpty && !openRows.isEmpty { match(form) }
    usedRows.sort { $0.row < $1.row }
    findOverlooked()
    findRounded()
    openRows = []
    outcomes = fileOfImage.map { file in
      guard let file else { return .none }
      if let reason = refused[file] { return .refused(reasons[reason]) }
      return found[file].map { .row($0.row) } ?? .none
    }
  }

  private mutating func match(_ form: Form) {
    var rowsOfFile: [Int: [Int]] = [:]
    for part in form.parts where !openRows.isEmpty {
      let keys = ImageKeys(part, form.fold, of: files, open: openFiles, depths: depths)
      let rowsOfKey = takeRows(keys)
      for (key, candidates) in candidates(keys, rowsOfKey, isExact: form == .path) {
        if candidates.count == 1 {
          rowsOfFile[candidates[0], default: []] += rowsOfKey[key]
        } else {
          refuse(
            candidates, rowsOfKey[key],
            """
            the row '\(rows[rowsOfKey[key][0]])' could be that of \(path(candidates[0])) and of \(path(candidates[1]))
            """)
        }
      }
    }
    for (file, rows) in rowsOfFile.sorted(by: { $0.key < $1.key }) {
      if let reason = refused[file] {
        use(rows, reason: reason)
      } else if rows.count > 1 {
        refuse(
          [file], rows,
          "the rows '\(self.rows[rows[0]])' and '\(self.rows[rows[1]])' could both be that of \(path(file))")
      } else {
        found[file] = (rows[0], form)
        usedRows.append((UInt32(rows[0]), Int32(file), -1))
      }
    }
    openFiles.removeAll { found[$0] != nil || refused[$0] != nil }
  }

  /// Takes the rows that have a key out of ``openRows``: the rows of each key.
  private mutating func takeRows(_ keys: ImageKeys) -> [[Int]] {
    var rowsOfKey = [[Int]](repeating: [], count: keys.files.count)
    guard !keys.files.isEmpty else { return rowsOfKey }
    var rest: [UInt32] = []
    for row in openRows {
      if let key = key(keys, of: rows.bytes(Int(row))) {
        rowsOfKey[key].append(Int(row))
      } else {
        rest.append(row)
      }
    }
    openRows = rest
    return rowsOfKey
  }

  /// The place of the key that a row has.
  private func key(_ keys: ImageKeys, of row: ArraySlice<UInt8>) -> Int? {
    switch keys.part {
    case .path, .name, .identifier: return keys.place(of: PathParts.plain(row))
    case .end, .endIdentifier:
      let row = PathParts.plain(row, isOfWindows: true)
      return row.contains(PathParts.slash) ? keys.place(of: row) : nil
    case .known, .knownIdentifier:
      let isForeign = PathParts.isForeign(row)
      let row = PathParts.plain(row, isOfWindows: true)
      let depth = RowFilter.depth(of: row)
      for count in keys.depths where count < depth {
        if let key = keys.place(of: PathParts.last(count, of: row)),
          isForeign || keys.files[key].allSatisfy({ !files[$0].isWhole })
        {
          return key
        }
      }
      return nil
    }
  }

  /// The files that the rows of each key may belong to: those of the earliest folder.
  ///
  /// - Parameter isExact: if true, a row that names one file only has it, whatever other rows could name it too: `f/a.jpg` is not
  ///   the row `a.jpg` below the folder `f` if there is a row `f/a.jpg`.
  private func candidates(
    _ keys: ImageKeys, _ rowsOfKey: [[Int]], isExact: Bool
  ) -> [(key: Int, files: [Int])] {
    var open = rowsOfKey.indices.filter { !rowsOfKey[$0].isEmpty }.map { (key: $0, files: keys.files[$0]) }
    var claimed: Set<Int> = []
    while isExact {
      let more = Set(open.filter { $0.files.count == 1 }.map { $0.files[0] }).subtracting(claimed)
      if more.isEmpty { break }
      claimed.formUnion(more)
      for place in open.indices where open[place].files.count > 1 {
        let rest = open[place].files.filter { !claimed.contains($0) }
        if !rest.isEmpty { open[place].files = rest }
      }
    }
    return open.map { key, candidates in
      let rank = candidates.map { files[$0].rank }.min()
      return (key, candidates.filter { files[$0].rank == rank })
    }
  }

  private mutating func refuse(_ files: [Int], _ rows: [Int], _ reason: Sentence) {
    for file in files where refused[file] == nil { refused[file] = reasons.count }
    use(rows, reason: reasons.count)
    reasons.append(reason)
  }

  private mutating func use(_ rows: [Int], reason: Int) {
    usedRows += rows.map { (UInt32($0), -1, Int32(reason)) }
  }

  private func path(_ file: Int) -> String { images[files[file].image].path }

  private mutating func findRounded() {
    let numbers = openFiles.compactMap { LongNumber(files[$0].identifier) }
    guard !numbers.isEmpty else { return }
    let wanted = Set(numbers + numbers.map { $0.shown })
    roundedRow = rows.indices.first { row in
      LongNumber(rows.bytes(row)).map { wanted.contains($0) } ?? false && outcome(ofRow: row) == (nil, nil)
    }
  }

  private mutating func findOverlooked() {
    let closed = files.indices.filter { found[$0] != nil }
    for part: NamedPart in [.name, .identifier, .end, .endIdentifier] where !openRows.isEmpty {
      let keys = ImageKeys(part, .nothing, of: files, open: closed, depths: depths)
      for (key, rows) in takeRows(keys).enumerated() where !rows.isEmpty {
        let first = overlooked ?? (0, rows[0], keys.files[key][0])
        overlooked = (first.count + rows.count, first.row, first.file)
      }
    }
  }
}

extension RowAssignment {
  /// - Throws: if there are images, and no row is or could be one of theirs.
  package func requireRow() throws(DermaFusionError) {
    guard !images.isEmpty, outcomes.allSatisfy({ $0 == .none }) else { return }
    guard let first = rows.indices.first(where: { !rows.isNothing($0) }) else {
      throw rows.failure(
        rows.isEmpty ? "the table has no row below its header" : "the table has no row of an image")
    }
    let row = rows[first]
    let hint: Sentence = roundedRow.map { " ('\(rows[$0])'). \(LongNumber.hint)" } ?? Sentence("")
    let path = images.first { !$0.path.isEmpty }?.path
    let image: Sentence = path.map { Sentence($0) } ?? "an image without a name"
    let images: Sentence =
      self.images.count == 1
      ? image : "one of the \(self.images.count) images, the first of them \(image)"
    let start: Sentence =
      rows.count == 1 ? "its row is '\(row)'" : "the first of its \(rows.count) rows is '\(row)'"
    throw rows.failure(
      """
      no row is that of \(images); \(start)\(hint). Please name each image by its file's name or its path in the column \
      '\(rows.columnName)'.
      """)
  }

  /// The image that a row belongs to, nil if there is none, or the reason why nobody can tell.
  package func outcome(ofRow row: Int) -> (image: Int?, refusal: Sentence?) {
    var (low, high) = (0, usedRows.count)
    while low < high {
      let middle = (low + high) / 2
      if usedRows[middle].row < row { low = middle + 1 } else { high = middle }
    }
    guard low < usedRows.count, usedRows[low].row == row else { return (nil, nil) }
    let used = usedRows[low]
    return used.reason < 0
      ? (files[Int(used.file)].image, nil) : (nil, reasons[Int(used.reason)])
  }

  /// A sentence for each form in which images were found, and one for rows that name an image which has another row.
  package func notes(table path: String) -> [Sentence] {
    var notes = Form.allCases.compactMap { form -> Sentence? in
      let found = files.indices.filter { shownForm($0) == form }
      guard form != .name, let first = found.first, let row = self.found[first]?.row else { return nil }
      return found.count == 1
        ? "in \(path), 1 image was found \(form.words): \(self.path(first)) by '\(rows[row])'."
        : "in \(path), \(found.count) images were found \(form.words): \(self.path(first)) by '\(rows[row])', ..."
    }
    if let overlooked, let row = found[overlooked.file]?.row {
      let example: Sentence =
        "'\(rows[overlooked.row])' beside '\(rows[row])' for \(self.path(overlooked.file))"
      notes.append(
        overlooked.count == 1
          ? "in \(path), 1 row is left out, because the image has a row that names it more exactly: \(example)."
          : """
          in \(path), \(overlooked.count) rows are left out, because the image has a row that names it more exactly: \
          \(example), ...
          """)
    }
    if let roundedRow {
      notes.append("in \(path), no image has the name '\(rows[roundedRow])'. \(LongNumber.hint).")
    }
    return notes
  }

  /// The form in which a file was found. A path that is a name alone counts as the name.
  private func shownForm(_ file: Int) -> Form? {
    guard let found = found[file] else { return nil }
    let row = rows.bytes(found.row)
    if row == files[file].identifier { return .name }
    return found.form == .path && row == files[file].name ? .wholeName : found.form
  }
}

/// Passes over the rows that no form can match: with a million rows for a few images it takes most of the time.
private struct RowFilter {
  /// Hashes of the images' names in lower case; of rows without a folder.
  private var names: Set<Int> = []
  /// The same with the last folder; of rows with one.
  private var ends: Set<Int> = []

  init(_ files: [ImageFile]) {
    for file in files {
      // The row's folder says nothing about an image whose folder is not known.
      let isBare = file.parts.count < 2
      for name in [file.name, file.identifier] {
        add(name)
        if isBare {
          ends.insert(Self.hash(name))
        } else {
          add(PathParts.joined(file.parts.dropLast().suffix(1) + [name])[...])
        }
        if let end = Self.end(PathParts.plain(name, isOfWindows: true)) { ends.insert(Self.hash(end)) }
      }
      for path in file.paths { add(path[...]) }
    }
  }

  private mutating func add(_ path: ArraySlice<UInt8>) {
    if let end = Self.end(path) { ends.insert(Self.hash(end)) } else { names.insert(Self.hash(path)) }
  }

  /// The rows that may be an image's, and the numbers of parts of those that have a folder.
  func rows(of rows: TableNames) -> (rows: [UInt32], depths: [Int]) {
    var (found, depths): ([UInt32], Set<Int>) = ([], [])
    for row in rows.indices {
      let name = PathParts.plain(rows.bytes(row), isOfWindows: true)
      guard let end = Self.end(name) else {
        if !name.isEmpty, names.contains(Self.hash(name)) { found.append(UInt32(row)) }
        continue
      }
      guard ends.contains(Self.hash(end)) || ends.contains(Self.hash(PathParts.last(1, of: name))) else {
        continue
      }
      found.append(UInt32(row))
      depths.insert(Self.depth(of: name))
    }
    return (found, depths.sorted())
  }

  static func depth(of path: ArraySlice<UInt8>) -> Int { 1 + path.count { $0 == PathParts.slash } }

  /// The last folder and the name; nil without a folder.
  private static func end(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    path.contains(PathParts.slash) ? PathParts.last(2, of: path) : nil
  }

  /// The hash of a name in lower case, the same for all Unicode forms.
  private static func hash(_ name: ArraySlice<UInt8>) -> Int {
    var lower = name
    if name.contains(where: { $0 >= 0x80 }) {
      let text = String(decoding: name, as: UTF8.self).lowercased()
      // The Kelvin sign, for one, has an ASCII letter in lower case.
      lower = Array(text.utf8)[...]
      if lower.contains(where: { $0 >= 0x80 }) { return text.hashValue }
    }
    // FNV-1a: names of one hash only cost time.
    return Int(
      bitPattern: lower.reduce(0x811C_9DC5 as UInt) {
        ($0 ^ UInt((0x41...0x5A).contains($1) ? $1 | 0x20 : $1)) &* 0x0100_0193
      })
  }
}
