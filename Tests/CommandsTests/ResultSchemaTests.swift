import DermaFusion
import Foundation
import TestModels
import Testing

/// The schemas of a result are the rows of `ResultField.all`.
@Suite struct ResultSchemaTests {
  private static let folder = Fixtures.root.appending(path: "Sources/Commands/schema")

  private static func schema(_ field: ResultField) -> String {
    field.schema.hasPrefix("{")
      ? field.schema : #"{ "$ref": "common.json#/$defs/\#(field.schema)" }"#
  }

  @Test(arguments: [
    (
      "result.json", "What classify and gradcam say of an image alike", true,
      #"""
        "dependentRequired": { "language": ["disclaimerTranslation"], "disclaimerTranslation": ["language"] },
        "allOf": [
          {
            "if": { "properties": { "abstain": { "const": true }, "language": false } },
            "then": { "properties": { "summary": { "pattern": "^No classification is suggested" } } }
          },
          {
            "if": { "properties": { "abstain": { "const": false }, "language": false } },
            "then": { "properties": { "summary": { "pattern": "^Classification suggests " } } }
          }
        ],
        "if": { "properties": { "abstain": { "const": true } } },
        "then": {
          "properties": {
            "prediction": { "type": "null" },
            "risk": { "type": "null" },
            "conformalSet": { "type": "null" },
            "conformalCoverage": { "type": "null" },
            "abstainReasons": { "minItems": 1 }
          }
        },
        "else": {
          "properties": {
            "prediction": { "type": ["object", "string"] },
            "abstainReasons": { "maxItems": 0 }
          }
        }
      """#
    ),
    (
      "classify.json", "A line of dermafusion classify --format json: one image", false,
      #"  "allOf": [{ "$ref": "result.json" }]"#
    ),
  ])
  func theFileHoldsTheTable(name: String, title: String, isOfMaps: Bool, rules: String) throws {
    let fields = ResultField.all.filter { $0.isOfMaps == isOfMaps }
    let required = fields.filter { $0.presence == .always }.map { #""\#($0.name)""# }
    let schema = """
      {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "\(title)",
        "type": "object",
        "required": [\(required.joined(separator: ", "))],
        "properties": {
      \(fields.map { "    \"\($0.name)\": \(Self.schema($0))" }.joined(separator: ",\n"))
        },
      \(rules)
      }

      """
    let file = Self.folder.appending(path: name)
    if ProcessInfo.processInfo.environment["DERMAFUSION_WRITE_SCHEMAS"] != nil {
      try Data(schema.utf8).write(to: file)
    }
    #expect(
      try String(contentsOf: file, encoding: .utf8) == schema,
      "set DERMAFUSION_WRITE_SCHEMAS to write the file anew")
  }
}
