/// An option that may be given more than once; its values keep their order.
package struct RepeatableOption<Value: Sendable>: Parameter {
  /// What one of them is.
  let element: Option<Value>

  package init(_ element: Option<Value>) { self.element = element }

  package var name: String { element.name }
  package var valueName: String? { element.valueName }
  package var abstract: String { element.abstract }
  package var allowedValues: [String] { element.allowedValues }
  package var defaultValue: String? { element.defaultValue }
  package var isRequired: Bool { element.isRequired }
  package var isPath: Bool { element.isPath }
  package var isRepeatable: Bool { true }
  package var expectation: String { element.expectation }
  package func accepts(_ text: String) -> Bool { element.accepts(text) }
}
