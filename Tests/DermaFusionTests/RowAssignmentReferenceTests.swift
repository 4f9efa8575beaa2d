import Files
import SystemModule
import TestFiles
import Testing

@testable import DermaFusion

/// Random tables against the rule as it is written, without a thought for its time.
@Suite struct RowAssignmentReferenceTests {
  private static let folder = "/w/d"
  private static let names = [
    "a.jpg", "A.jpg", "a.png", "a", "a.jpg.jpg", "a.JPG", "\u{E9}.jpg", "e\u{301}.jpg", "\u{C9}.jpg", "NA",
    "a .jpg",
  ]
  private static let folders = ["", "./", "d/", "D/", "e/d/", "../d/", "/w/d/", "/w/d/d/", "/v/d/", "../"]

  private struct Numbers: RandomNumberGenerator {
    var numbers: SplitMix64
    mutating func next() -> UInt64 { numbers.next() }
  }

  private struct File {
    let path: String
    let paths: Set<[UInt8]>
    let parts: [[UInt8]]
    let rank: Int
  }

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func parts(_ path: String) -> [[UInt8]] {
    bytes(path).split(separator: UInt8(ascii: "/")).map { Array($0) }.filter { $0 != bytes(".") }
  }

  /// Absolute, without `.` and `..`.
  private static func absolute(_ path: String) -> [[UInt8]] {
    var found: [[UInt8]] = path.hasPrefix("/") ? [] : parts(folder)
    for part in parts(path) { if part == bytes("..") { found.removeLast() } else { found.append(part) } }
    return found
  }

  private static func plain(_ path: String) -> [UInt8] {
    (path.hasPrefix("/") ? [UInt8(ascii: "/")] : []) + parts(path).joined(separator: [UInt8(ascii: "/")])
  }

  private static func fold(_ bytes: [UInt8], _ form: RowAssignment.Form) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    switch form {
    // As numbers: strings of one look are equal.
    case .letterCase: return text.lowercased().utf8.map { "\($0)" }.joined(separator: " ")
    case .unicodeForm: return text.lowercased()
    default: return bytes.map { "\($0)" }.joined(separator: " ")
    }
  }

  /// The strength of a match within its form: 0 is the strongest.
  private static func place(_ row: String, _ file: File, _ form: RowAssignment.Form) -> Int? {
    let identifier = bytes(file.path.imageIdentifier ?? "")
    let name = file.parts[file.parts.count - 1]
    let key = fold(plain(row), form)
    func isEnd(_ name: [UInt8]) -> Bool {
      let parts = Self.parts(row)
      guard parts.count > 1, !row.hasPrefix("/") || parts.count == file.parts.count else { return false }
      let own = file.parts.dropLast() + [name]
      return parts.count <= own.count
        && zip(parts.reversed(), own.reversed()).allSatisfy { fold($0, form) == fold($1, form) }
    }
    let found = [
      file.paths.contains { fold($0, form) == key }, fold(name, form) == key, fold(identifier, form) == key,
      isEnd(name),
      isEnd(identifier),
    ]
    switch form {
    case .path: return found[0] ? 0 : nil
    case .wholeName: return found[1] ? 0 : nil
    case .name: return found[2] ? 0 : nil
    case .pathEnd: return found[3] ? 0 : found[4] ? 1 : nil
    case .letterCase, .unicodeForm: return found.firstIndex(of: true)
    }
  }

  /// Each file's row, or -1 if it is refused.
  private static func reference(_ files: [File], _ rows: [String]) -> [Int?] {
    var found: [Int?] = files.map { _ in nil }
    var openRows = Set(rows.indices)
    for form in RowAssignment.Form.allCases {
      let openFiles = files.indices.filter { found[$0] == nil }
      var rowsOfFile: [Int: [Int]] = [:]
      var refused: Set<Int> = []
      var candidates: [Int: [Int]] = [:]
      for row in openRows {
        let places = openFiles.compactMap { file in place(rows[row], files[file], form).map { (file, $0) } }
        guard let best = places.map({ $0.1 }).min() else { continue }
        candidates[row] = places.filter { $0.1 == best }.map { $0.0 }
      }
      var claimed: Set<Int> = []
      while form == .path {
        let more = Set(candidates.values.filter { $0.count == 1 }.map { $0[0] }).subtracting(claimed)
        if more.isEmpty { break }
        claimed.formUnion(more)
        for (row, files) in candidates where files.count > 1 {
          let rest = files.filter { !claimed.contains($0) }
          if !rest.isEmpty { candidates[row] = rest }
        }
      }
      for (row, all) in candidates {
        openRows.remove(row)
        let rank = all.map { files[$0].rank }.min()
        let first = all.filter { files[$0].rank == rank }
        if first.count > 1 { refused.formUnion(first) }
        if first.count == 1 { rowsOfFile[first[0], default: []].append(row) }
      }
      for (file, rows) in rowsOfFile { found[file] = rows.count == 1 ? rows[0] : -1 }
      for file in refused { found[file] = -1 }
    }
    return found
  }

  @Test func randomTablesFollowTheRule() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = Numbers(numbers: SplitMix64(seed: seed))
    for trial in 0..<1500 {
      var files: [File] = []
      var images: [ListedImage] = []
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let given = Self.folders.randomElement(using: &random)!
        let path = given + Self.names.randomElement(using: &random)!
        let parts = Self.absolute(path)
        guard !files.contains(where: { $0.parts == parts }) else { continue }
        let below =
          Bool.random(using: &random)
          ? String(
            decoding: Array(
              parts.suffix(Int.random(in: 1...2, using: &random)).joined(separator: [UInt8(ascii: "/")])),
            as: UTF8.self) : nil
        let rank = Int.random(in: 0...1, using: &random)
        images.append(ListedImage(path, below: below, rank: rank))
        let absolute = [UInt8(ascii: "/")] + parts.joined(separator: [UInt8(ascii: "/")])
        files.append(
          File(
            path: path, paths: Set([Self.plain(path), absolute] + (below.map { [Self.plain($0)] } ?? [])),
            parts: parts, rank: rank))
      }
      var rows: [String] = []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        var row = Self.folders.randomElement(using: &random)! + Self.names.randomElement(using: &random)!
        if Bool.random(using: &random), row.hasSuffix(".jpg") { row.removeLast(4) }
        if !rows.contains(where: { Self.bytes($0) == Self.bytes(row) }) { rows.append(row) }
      }
      let matches = RowAssignment(images: images, rows: RowAssignmentTests.names(rows), folder: Self.folder)
      let found = matches.outcomes.map { outcome -> Int? in
        switch outcome {
        case .row(let row): row
        case .none: nil
        case .refused: -1
        }
      }
      let expected = Self.reference(files, rows)
      #expect(found == expected, "seed \(seed), trial \(trial): \(images), \(rows)")
      if found != expected { return }
      for (row, _) in rows.enumerated() where matches.outcome(ofRow: row).refusal == nil {
        #expect(
          matches.outcome(ofRow: row).image == expected.firstIndex(of: row),
          "seed \(seed), trial \(trial), row \(row)")
      }
    }
  }
}
