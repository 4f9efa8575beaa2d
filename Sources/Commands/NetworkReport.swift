import DermaFusion
import Files

/// The operations of a model's network, or of those of an ensemble.
struct NetworkReport: PlainReport {
  let classifier: Classifier

  var members: [(key: String, value: JSONValue)] {
    [("model", classifier.model.json), ("networks", .array(classifier.networks.map { $0.json }))]
  }

  func lines(width: Int?) -> [String] {
    var lines: [String] = []
    for (index, described) in classifier.networks.enumerated() {
      let (network, operations) = (described.network, described.network.operations)
      if index > 0 { lines.append("") }
      lines.append(
        "\(described.model): \(network.parameters) parameters, \(network.multiplyAdds) multiply-adds for an image "
          + "of \(network.image)")
      lines += TextTable(
        names: .left("operation", gap: 2, operations.map { $0.title }),
        columns: [
          .left("name", gap: 2, operations.map { $0.name.printable }),
          .left("output", gap: 2, operations.map { $0.output.description }),
          .right("parameters", 10, operations.map { String($0.parameters) }),
          .right("multiply-adds", 15, operations.map { String($0.multiplyAdds) }),
          .left("  with", operations.map { $0.fused.isEmpty ? "" : "  " + $0.fused.joined(separator: ", ") }),
        ]
      ).lines(width: nil)
    }
    return lines
  }
}
