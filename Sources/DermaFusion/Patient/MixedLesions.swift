import Files
import SystemModule

/// Lesions whose rows cannot be of one person, for instance because lesions are numbered anew for each patient: one answer for such
/// a lesion could be made of the photographs of several people.
package struct MixedLesions: Sendable {
  /// By the lesion's name.
  private var errors: [[UInt8]: DermaFusionError] = [:]

  /// - Parameter rows: of images, those of no lesion too.
  package init(_ rows: [(row: ChanceUnit.Row, sex: Sex?)], of table: CSVTable) {
    let rows = rows.filter { $0.row.lesion != nil }
    func add(_ property: String, _ value: (ChanceUnit.Row, Sex?) -> String?) {
      let units = ChanceUnits(
        rows.map {
          ChanceUnit.Row(image: $0.row.image, lesion: $0.row.lesion, patient: value($0.row, $0.sex))
        })
      for (lesion, values) in units.sharedLesions {
        errors[lesion.imageKey] = table.failure(
          """
          the rows of the lesion '\(lesion)' differ in the \(property): \(values.quotedList). One answer could mix the photographs of \
          several people. If lesions are numbered anew for each patient, please give each a name of its own.
          """)
      }
    }
    add("sex") { $1 == .unknown ? nil : $1?.rawValue }
    add("patient") { row, _ in row.patient }
  }

  /// The reason why a lesion gets no answer; nil if its rows may be of one person.
  package func error(of lesion: String) -> DermaFusionError? { errors[lesion.imageKey] }
}
