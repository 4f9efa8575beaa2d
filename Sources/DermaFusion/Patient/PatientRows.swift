import Files
import SystemModule

/// The facts on patients in a table's rows without an image, as REDCap exports them: a row for what was asked once, and a row
/// for each image.
struct PatientRows: Sendable {
  private struct Field<Value: Equatable & Sendable>: Sendable {
    var value: Value?
    var line = 0
    /// The line of a row that says something else.
    var contradiction: Int?

    mutating func take(_ other: Value?, line: Int) {
      guard let other else { return }
      if value == nil { (value, self.line) = (other, line) }
      if value != other, contradiction == nil { contradiction = line }
    }
  }

  private struct Patient: Sendable {
    var age = Field<Double>()
    var sex = Field<Sex>()
    var site = Field<BodySite>()
    /// The first cell that cannot be understood.
    var error: DermaFusionError?
  }

  let column: CSVTable.Column
  private var patients: [[UInt8]: Patient] = [:]

  init(_ column: CSVTable.Column) { self.column = column }

  /// Asks for the patient of an image's row: a table may have millions of others.
  mutating func ask(of row: CSVTable.Row) {
    if let name = row.known(column) { patients[name.imageKey] = Patient() }
  }

  /// Takes a row without an image, if its patient was asked for.
  mutating func add(
    _ row: CSVTable.Row, cells: (CSVTable.Row) throws(DermaFusionError) -> MetadataTable.Entry
  ) {
    guard let name = row.known(column), var patient = patients[name.imageKey] else { return }
    do throws(DermaFusionError) {
      let (entry, line) = (try cells(row), row.line)
      patient.age.take(entry.ageInYears, line: line)
      patient.sex.take(entry.sex == .unknown ? nil : entry.sex, line: line)
      patient.site.take(entry.site == .unknown ? nil : entry.site, line: line)
    } catch {
      patient.error = patient.error ?? error
    }
    patients[name.imageKey] = patient
  }

  /// The entry with what the patient's rows say in the place of what it lacks.
  func filled(
    _ entry: MetadataTable.Entry, of row: CSVTable.Row, in table: CSVTable
  ) throws(DermaFusionError) -> MetadataTable.Entry {
    guard let name = row.known(column), let patient = patients[name.imageKey] else { return entry }
    if let error = patient.error { throw error }
    func value<Value>(
      _ own: Value?, _ field: Field<Value>, _ word: String
    ) throws(DermaFusionError) -> Value? {
      if let own { return own }
      guard let line = field.contradiction else { return field.value }
      throw table.failure(
        "line \(row.line): the rows of '\(name)' on lines \(field.line) and \(line) have different values for the \(word)"
      )
    }
    return MetadataTable.Entry(
      ageInYears: try value(entry.ageInYears, patient.age, "age"),
      sex: try value(entry.sex == .unknown ? nil : entry.sex, patient.sex, "sex") ?? entry.sex,
      site: try value(entry.site == .unknown ? nil : entry.site, patient.site, "site") ?? entry.site,
      unknownSite: entry.unknownSite)
  }
}
