/// What a network with a metadata head is told about the patient.
package struct MetadataVector: Sendable, Equatable {
  /// Age / 100, clamped to 0...1; 0 when it is missing.
  package let age: Float
  package let isAgeMissing: Bool
  /// Among `Sex`.
  package let sexIndex: Int
  /// Among `BodySite`.
  package let siteIndex: Int

  package init(age: Float, isAgeMissing: Bool, sexIndex: Int, siteIndex: Int) {
    self.age = age
    self.isAgeMissing = isAgeMissing
    self.sexIndex = sexIndex
    self.siteIndex = siteIndex
  }

  /// `[4]`, as fixtures and tables have it.
  package var values: [Float] { [age, isAgeMissing ? 1 : 0, Float(sexIndex), Float(siteIndex)] }
}
