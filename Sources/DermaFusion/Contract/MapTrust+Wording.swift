import Files

extension MapTrust {
  /// The measurements in words, one sentence each.
  public var sentences: [String] {
    [
      """
      Deletion: hiding the map's strongest places first lowers the probability \
      \(deletionAUC < randomDeletionAUC ? "faster than" : "no faster than") hiding random ones \
      (mean \(deletionAUC.fixed(digits: 3)), random \(randomDeletionAUC.fixed(digits: 3)); lower is better).
      """,
      """
      Insertion: showing the map's strongest places first raises the probability \
      \(insertionAUC > randomInsertionAUC ? "faster than" : "no faster than") showing random ones \
      (mean \(insertionAUC.fixed(digits: 3)), random \(randomInsertionAUC.fixed(digits: 3)); higher is better).
      """,
      correlationSentence, verdict,
    ]
  }

  /// What the three checks say together, one sentence.
  public var verdict: String {
    passes
      ? "This map passed all three checks, which does not make it or the classification right."
      : "This map failed at least one of the three checks: do not rely on it."
  }

  private var correlationSentence: String {
    guard let correlation = shuffledHeadCorrelation else {
      return "Randomisation: a map without variance cannot be compared."
    }
    let meaning =
      correlation < Self.highCorrelation
      ? "it depends on what the model learned" : "it shows the image more than what the model learned"
    return
      "Randomisation: the correlation with maps of shuffled heads is \(correlation.fixed(digits: 3)): \(meaning)."
  }
}
