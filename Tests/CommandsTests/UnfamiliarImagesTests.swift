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
    let errors = try notes { $0.noteUnfamiliar(unfamiliar, of: count, on: $1) }
    #expect(expected.isEmpty ? errors.isEmpty : errors.contains("Note: \(expected)"), "\(errors)")
  }

  /// One image alone says so in its answer.
  @Test(arguments: [
    (0, 9, ""), (1, 1, ""), (1, 9, "Note: 1 of 9 images does not look like pictures through a dermatoscope."),
    (9, 9, "Note: 9 of 9 images do not look like pictures through a dermatoscope."),
  ])
  func aBatchSaysOnceHowManyPicturesNoDermatoscopeTook(found: Int, count: Int, expected: String) throws {
    let errors = try notes { $0.noteNotDermoscopic(found, of: count, on: $1) }
    #expect(
      errors == (expected.isEmpty ? "" : expected + " The model abstains from them.\n"), "\(errors)")
  }

  private func notes(_ note: (BatchInput, Terminal) -> Void) throws -> String {
    let folder = TemporaryFolder()
    let image = folder.write(pnm(), to: "a.ppm")
    let errors = MemoryOutput()
    let terminal = memoryTerminal(
      errors: errors, environment: ["DERMAFUSION_MODEL": "model"], showsProgress: true)
    let arguments = try parsedArguments(
      [image], positionals: ClassifyCommand.positionals, options: ClassifyCommand.options)
    note(try BatchInput(arguments, terminal: terminal), terminal)
    return errors.text
  }
}
