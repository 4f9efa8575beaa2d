import Foundation
import TestFiles
import TestModels
import Testing

/// The program's end by a signal, and its runs without files and settings that it usually has.
@Suite struct ProgramFaultTests {
  let program = ProgramTests()
  private let repository = Fixtures.root.path

  /// The signal comes when the first image's result is there and the second image is waited for.
  private func end(by signal: String) throws -> (status: Int32, output: String, errors: String) {
    try program.shell(
      """
      mkfifo in; sleep 60 > in & writer=$!
      $dermafusion classify \(repository)/ParityFixtures/images/phantom_brown.jpg - --threads 1 --format json \
      --model \(repository)/Weights < in > out & program=$!
      while ! [ -s out ] && kill -0 $program; do sleep 0.1; done
      kill -\(signal) $program; wait $program; status=$?; kill $writer; exit $status
      """)
  }

  @Test(arguments: [("ABRT", 134), ("BUS", 135), ("SEGV", 139), ("ILL", 132)] as [(String, Int32)])
  func aFaultIsToldInOneLine(signal: String, status: Int32) throws {
    let result = try end(by: signal)
    #expect(result.status == status)
    #expect(
      result.errors.hasPrefix("Error: dermafusion crashed: internal error or out of memory"),
      "\(result.errors)")
  }

  /// Not SIGINT: a shell has its background jobs ignore it, and what is ignored stays so.
  @Test(arguments: [("TERM", 143), ("HUP", 129)] as [(String, Int32)])
  func anInterruptEndsByItsSignal(signal: String, status: Int32) throws {
    let result = try end(by: signal)
    #expect(result.status == status)
    #expect(!result.errors.contains("Error"), "\(result.errors)")
  }

  /// Batch systems send some of them; a file of results is half written under a hidden name then.
  @Test(
    arguments: [
      ("TERM", 143), ("HUP", 129), ("ALRM", 142), ("USR1", 138), ("USR2", 140), ("XCPU", 152),
      ("VTALRM", 154),
      ("PROF", 155),
    ] as [(String, Int32)])
  func noSignalLeavesAHiddenFile(signal: String, status: Int32) throws {
    let result = try program.shell(
      """
      mkfifo in; sleep 60 > in & writer=$!
      mkdir new; $dermafusion classify \(repository)/ParityFixtures/images/phantom_brown.jpg - --threads 1 \
      --format json --model \(repository)/Weights --output new/results < in & program=$!
      while [ -z "$(ls -A new)" ] && kill -0 $program; do sleep 0.1; done
      kill -\(signal) $program; wait $program; status=$?; kill $writer; ls -A new; exit $status
      """)
    #expect(result.status == status)
    #expect(result.output == "")
    #expect(
      result.errors.contains("the limit of processor time is reached") == (signal == "XCPU"),
      "\(result.errors)")
  }

  private static var mayMount: Bool {
    geteuid() == 0 && (try? ProgramTests().shell("unshare -m true"))?.status == 0
  }

  /// Swift reads the arguments from /proc. Only a root user can be without it.
  @Test(.enabled(if: mayMount, "only root can take /proc away, where containers let it"))
  func theArgumentsAreThereWithoutProc() throws {
    let result = try program.shell(
      """
      unshare -m sh -c 'mount -t tmpfs none /proc && exec "$dermafusion" encode-metadata --age 55 --site "lower extremity"'
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == "{\"vector\":[0.55,0.0,2.0,9.0],\"missing\":[\"sex\"]}\n")
  }

  @Test func anImageThatIsNoneIsNotReadToItsEnd() throws {
    let result = try program.shell(
      "$dermafusion preprocess /dev/zero --stage decoded --output out.npy --model \(repository)/Weights")
    #expect(result.status == 1)
    #expect(
      result.errors
        == "Error: /dev/zero: not a PNG, JPEG, PNM, BMP, DICOM, WebP, TIFF, HEIC or AVIF image (it starts with 00 00 00 00 00 00 00 00)\n"
    )
  }
}
