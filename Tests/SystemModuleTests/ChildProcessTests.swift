import Testing

@testable import SystemModule

@Suite struct ChildProcessTests {
  init() { StandardStreams.prepare() }

  private func shell(_ line: String, seconds: Double = 30) throws -> ChildProcess {
    try ChildProcess(executable: "/bin/sh", arguments: ["-c", line], seconds: seconds)
  }

  /// More than a pipe holds, in both directions.
  @Test func givesBackWhatTheChildMakesOfItsInput() throws {
    let input = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    // Reads everything first, as a child that decodes does.
    let child = try shell("input=$(od -An -v -tu1 | wc -l); printf '%06d' $input")
    input.withUnsafeBytes { child.write($0) }
    var output = [UInt8](repeating: 0, count: 6)
    #expect(output.withUnsafeMutableBytes { child.read(into: $0) })
    #expect(String(decoding: output, as: UTF8.self) == "018750")
    #expect(child.end() == .exited(status: 0))
  }

  @Test func saysHowTheChildEnded() throws {
    #expect(try shell("exit 3").end() == .exited(status: 3))
    #expect(try shell("kill -SEGV $$").end() == .killed(signal: 11))
  }

  @Test func aChildThatTakesTooLongIsEnded() throws {
    // A child of the shell would outlive it, with whatever it inherited: a pipe of another test would not end.
    let child = try shell("exec sleep 600", seconds: 0.2)
    var output = [UInt8](repeating: 0, count: 1)
    #expect(!output.withUnsafeMutableBytes { child.read(into: $0) })
    #expect(child.end() == .late)
  }

  /// The child ends without having read its input.
  @Test func aChildThatDoesNotReadIsNoHarm() throws {
    let input = [UInt8](repeating: 1, count: 1 << 20)
    let child = try shell("exit 5")
    input.withUnsafeBytes { child.write($0) }
    #expect(child.end() == .exited(status: 5))
  }

  @Test func aProgramThatIsNotThereIsNamed() {
    #expect(throws: DermaFusionError.unreadable("/nowhere/program", reason: "No such file or directory")) {
      _ = try ChildProcess(executable: "/nowhere/program", arguments: [], seconds: 1)
    }
  }

  @Test func aLibraryThatIsNotThereIsNil() {
    #expect(DynamicLibrary(names: ["libnowhere.so.1", "libnowhere.dylib"]) == nil)
  }
}
