import SystemModule
import TestFiles
import Testing

@testable import Commands

/// The note on images of another camera, which the model's card promises for a quarter of them.
@Suite struct UnfamiliarImagesTests {
  @Test(arguments: [
    (1, 4, "1 of 4 images look less like"), (1, 5, ""), (24, 100, ""),
    (25, 100, "25 of 100 images look less like"),
    (1, 1, "the image looks less like"), (0, 1, ""),
  ])
  func aQuarterOfTheImagesIsWorthANote(unfamiliar: Int, count: Int, expected: String) throws {
    let folder = TemporaryFolder()
    let image = folder.write(pnm(), to: "a.ppm")
    let errors = MemoryOutput()
    let terminal = Terminal(
      output: MemoryOutput(), errors: errors,
      readInput: { (_) throws(DermaFusionError) in throw .empty("standard input") }, width: nil,
      usesColour: false,
      showsProgress: true, environment: { ["DERMAFUSION_MODEL": "model"][$0] }, executablePath: nil)
    let outcome = try ParsedArguments.parse(
      [image], positionals: ClassifyCommand.positionals, options: ClassifyCommand.options)
    guard case .arguments(let arguments) = outcome else { throw DermaFusionError.unexpectedArgument("none") }
    try BatchInput(arguments, terminal: terminal).noteUnfamiliar(unfamiliar, of: count, on: terminal)
    #expect(
      expected.isEmpty ? errors.text.isEmpty : errors.text.contains("Note: \(expected)"), "\(errors.text)")
  }
}
