import DermaFusion

/// What a command works with: the terminal, and the way to a model.
package struct Session: Sendable {
  package let terminal: Terminal
  /// Loads a model.
  package typealias Loader =
    @Sendable (_ folder: String, _ threadCount: Int?, _ precision: Precision?) throws -> Classifier

  /// Loads the model of a folder, to compute with so many threads (`nil`: as many as there are processors) in a precision
  /// (`nil`: the model's own).
  package let loadClassifier: Loader

  /// Why the instruction set that the environment asks for cannot be had; `nil` when it can, or none is asked for.
  package let instructionSetRefusal: String?

  package init(
    terminal: Terminal,
    instructionSetRefusal: String? = Classifier.unavailableInstructionSet?.description,
    loadClassifier: @escaping Loader = {
      try Classifier(modelDirectory: $0, threadCount: $1, precision: $2)
    }
  ) {
    self.terminal = terminal
    self.instructionSetRefusal = instructionSetRefusal
    self.loadClassifier = loadClassifier
  }
}
