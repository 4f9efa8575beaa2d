import DermaFusion

/// What a command works with: the terminal, and the way to a model.
package struct Session: Sendable {
  package let terminal: Terminal
  /// Loads the model of a folder, to compute with so many threads (`nil`: as many as there are processors).
  package let loadClassifier: @Sendable (_ folder: String, _ threadCount: Int?) throws -> Classifier

  package init(
    terminal: Terminal,
    loadClassifier: @escaping @Sendable (_ folder: String, _ threadCount: Int?) throws -> Classifier = {
      try Classifier(modelDirectory: $0, threadCount: $1)
    }
  ) {
    self.terminal = terminal
    self.loadClassifier = loadClassifier
  }
}
