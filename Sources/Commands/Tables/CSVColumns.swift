/// The cells of a table by the names of their columns, with messages that say where a bad one stands.
package struct CSVColumns: Sendable {
  private let path: String
  private let positions: [String: Int]

  fileprivate init(path: String, positions: [String: Int]) {
    self.path = path
    self.positions = positions
  }

  /// A cell as it stands.
  private func field(_ column: String, of row: CSVTable.Row) -> String {
    guard let position = positions[column] else {
      preconditionFailure("column \(column) was not asked for; the table has \(positions.keys.sorted())")
    }
    return row.fields[position]
  }

  /// A cell without blanks around it.
  package func text(_ column: String, of row: CSVTable.Row) -> String { field(column, of: row).trimmed }

  /// A cell without blanks around it; `nil` where it is empty or a word for what is missing.
  package func knownText(_ column: String, of row: CSVTable.Row) -> String? {
    let text = text(column, of: row)
    return Self.isMissing(text) ? nil : text
  }

  /// A cell that may be missing, which is `nil`; so is one of no column.
  package func value<Value>(
    _ column: String?, of row: CSVTable.Row, as option: CommandOption<Value>
  ) throws(CSVError) -> Value? {
    guard let column else { return nil }
    let text = text(column, of: row)
    return Self.isMissing(text) ? nil : try requiredValue(column, of: row, as: option)
  }

  /// Whether a cell says that there is no value, as R, pandas and people write it.
  package static func isMissing(_ text: String) -> Bool {
    ["", "na", "nan", "null", "none", "-", "?"].contains(text.lowercased())
  }

  /// A cell that holds a value of the option.
  package func requiredValue<Value>(
    _ column: String, of row: CSVTable.Row, as option: CommandOption<Value>
  ) throws(CSVError) -> Value {
    let text = text(column, of: row)
    guard let value = option.convert(text) else {
      throw .invalidValue(
        path: path, line: row.line, column: column, value: text, expectation: option.expectation)
    }
    return value
  }

  /// That a cell breaks a rule which the caller knows.
  package func invalid(
    _ column: String, of row: CSVTable.Row, value: String, expectation: String
  ) -> CSVError {
    .invalidValue(path: path, line: row.line, column: column, value: value, expectation: expectation)
  }

  /// A cell with a name, as it stands: a file's name may begin with a blank.
  package func identifier(_ column: String, of row: CSVTable.Row) throws(CSVError) -> String {
    guard !text(column, of: row).isEmpty else {
      throw .invalidValue(
        path: path, line: row.line, column: column, value: "", expectation: "Please provide an identifier.")
    }
    return field(column, of: row)
  }

  /// A cell with a name that no other row may have.
  ///
  /// - Parameter lines: where each was seen, by its bytes: strings are equal too where they only look the same.
  package func uniqueIdentifier(
    _ column: String, of row: CSVTable.Row, seen lines: inout [[UInt8]: Int]
  ) throws(CSVError) -> String {
    let identifier = try identifier(column, of: row)
    if let firstLine = lines.updateValue(row.line, forKey: Array(identifier.utf8)) {
      throw .repeatedIdentifier(
        path: path, line: row.line, column: column, identifier: identifier, firstLine: firstLine)
    }
    return identifier
  }
}

extension CSVTable {
  /// The first of the names that the header has, as it stands there; where it has none of them as they are, in another letter
  /// case.
  ///
  /// - Parameter names: in lower case.
  /// - Throws: where it has a name several times and in another letter case only.
  package func column(among names: [String], path: String) throws(CSVError) -> String? {
    try columns(among: names, path: path).first
  }

  /// All of the names that the header has, as they stand there: first those that it has as they are, then those that it has
  /// once in another letter case, each in the order of `names`.
  ///
  /// - Parameter names: in lower case.
  /// - Throws: where the first that it has stands there several times and in another letter case only.
  package func columns(among names: [String], path: String) throws(CSVError) -> [String] {
    var found = names.filter(header.contains)
    for name in names where !found.contains(name) {
      let columns = header.filter { $0.lowercased() == name }
      if columns.count > 1, found.isEmpty { throw .repeatedColumn(path: path, name: columns[0]) }
      if columns.count == 1 { found += columns }
    }
    return found
  }

  /// Where the named columns are; the table may have others, in any order and of any names.
  ///
  /// - Parameter optional: columns that it may be without.
  package func columns(
    _ names: [String], optional: [String] = [], path: String
  ) throws(CSVError) -> CSVColumns {
    var positions: [String: Int] = [:]
    for name in names + optional.filter(header.contains) {
      guard let position = header.firstIndex(of: name) else {
        throw .missingColumn(path: path, name: name, header: header)
      }
      guard !header[(position + 1)...].contains(name) else {
        throw .repeatedColumn(path: path, name: name)
      }
      positions[name] = position
    }
    return CSVColumns(path: path, positions: positions)
  }
}
