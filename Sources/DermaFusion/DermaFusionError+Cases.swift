import SystemModule

extension DermaFusionError {
  static func nonFiniteLogits(_ logits: [Float]) -> DermaFusionError {
    let shown =
      logits.prefix(8).map { $0.description }.joined(separator: ", ") + (logits.count > 8 ? ", ..." : "")
    return DermaFusionError(
      .nonFiniteOutput, message: "the network's outputs are not finite (\(shown))",
      remedy: "Check the model with another image; if it fails too, its weights are damaged.")
  }

  static func unknownClass(_ message: Sentence, among labels: Labels) -> DermaFusionError {
    let ids = labels.ids.prefix(8).joined(separator: ", ")
    return DermaFusionError(
      .unknownClass, message: message,
      remedy: "Take a label of this model: \(ids)\(labels.count > 8 ? ", ..." : "").")
  }
}
