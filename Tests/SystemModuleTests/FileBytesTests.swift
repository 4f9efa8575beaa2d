import Foundation
import TestFiles
import Testing

@testable import SystemModule

@Suite struct FileBytesTests {
  let folder = TemporaryFolder()

  @Test func readsAWholeFileUpToTheLimit() throws {
    let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let path = folder.write(bytes, to: "f")
    #expect(try FileBytes.read(path: path, limit: 70_000) == bytes)
    #expect(throws: DermaFusionError.tooLarge(path, limit: 69_999)) {
      try FileBytes.read(path: path, limit: 69_999)
    }
  }

  @Test func everyRuleHasItsError() throws {
    let path = folder.path
    #expect(throws: DermaFusionError.notFound("\(path)/none")) {
      try FileBytes.read(path: "\(path)/none", limit: 9)
    }
    #expect(throws: DermaFusionError.isFolder(path)) { try FileBytes.read(path: path, limit: 9) }
    let empty = folder.write("", to: "empty")
    #expect(throws: DermaFusionError.empty(empty)) { try FileBytes.read(path: empty, limit: 9) }
    #expect(throws: DermaFusionError.tooLarge("/dev/zero", limit: 99_999)) {
      try FileBytes.read(path: "/dev/zero", limit: 99_999)
    }
    #expect(throws: DermaFusionError.self) { try FileBytes.read(path: "\(empty)/below", limit: 9) }
  }

  @Test func aPipeIsWaitedForButNotForEver() throws {
    let path = folder.path + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    #expect(throws: DermaFusionError.pipeWithoutWriter(path, seconds: 1)) {
      try FileBytes.read(path: path, limit: 9, patience: 1)
    }
    for pause in [0.0, 0.3] {
      Thread.detachNewThread {
        Thread.sleep(forTimeInterval: pause)
        // No child of another test may inherit it: the pipe would not end before the child.
        let pipe = open(path, O_WRONLY | O_CLOEXEC)
        Thread.sleep(forTimeInterval: pause * 5)
        _ = write(pipe, "late", 4)
        close(pipe)
      }
      #expect(
        try FileBytes.read(path: path, limit: 9, patience: 600, pipeSeconds: 600) == Array("late".utf8))
    }
  }

  /// However often something is written.
  @Test func aPipeThatDoesNotEndIsNotReadForEver() throws {
    let path = folder.path + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    let pipe = open(path, O_RDWR | O_CLOEXEC)
    let isOver = Locked(false)
    Thread.detachNewThread {
      while !isOver.withLock({ $0 }) {
        _ = write(pipe, "x", 1)
        Thread.sleep(forTimeInterval: 0.05)
      }
      close(pipe)
    }
    defer { isOver.withLock { $0 = true } }
    let error = DermaFusionError.pipeWithoutEnd(path, seconds: 1)
    #expect(throws: error) {
      try FileBytes.read(path: path, limit: 1 << 20, patience: 600, pipeSeconds: 1)
    }
    #expect("\(error)" == "\(path): is a pipe that did not end within the limit of 1 seconds")
  }

  @Test func aPipeThatNobodyReadsIsNamed() throws {
    let path = folder.path + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    #expect(throws: DermaFusionError.pipeWithoutReader(path, seconds: 1)) {
      try FileBytes.write(Array("x".utf8), path: path, patience: 1)
    }
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      let pipe = open(path, O_RDONLY | O_CLOEXEC)
      var byte: UInt8 = 0
      while read(pipe, &byte, 1) == 1 {}
      close(pipe)
    }
    try FileBytes.write(Array("read".utf8), path: path, patience: 600)
  }

  /// As it is where another program shares the pipe and reads it without waiting.
  @Test func bytesThatAreNotThereYetAreWaitedFor() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    let writer = ends[1]
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      _ = write(writer, "late", 4)
      close(writer)
    }
    #expect(try FileBytes.read(descriptor: ends[0], name: "pipe", limit: 9) == Array("late".utf8))
  }

  @Test func aFileThatIsReplacedKeepsWhatMayBeDoneWithIt() throws {
    let path = folder.write("old", to: "private.npy")
    try #require(chmod(path, 0o600) == 0)
    try FileBytes.write(Array("new".utf8), path: path)
    var status = stat()
    try #require(stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  @Test func writingReplacesAFileAtOnceAndLeavesNothingElse() throws {
    let path = folder.write("old", to: "out/f.npy")
    try FileBytes.write(Array("new".utf8), path: path)
    #expect(folder.contents(of: "out/f.npy") == Array("new".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out") == ["f.npy"])
  }

  @Test func aNameMayBeAsLongAsTheSystemAllows() throws {
    let name = String(repeating: "n", count: Int(NAME_MAX))
    try FileBytes.write([1, 2], path: "\(folder.path)/\(name)")
    #expect(folder.contents(of: name) == [1, 2])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
  }

  @Test func whatASymbolicLinkLeadsToIsReplaced() throws {
    let path = folder.write("old", to: "target")
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try FileBytes.write([1, 2], path: link)
    #expect(folder.contents(of: "target") == [1, 2])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
  }

  @Test func aLinkToNothingIsFollowedToTheFileThatIsMade() throws {
    folder.write("x", to: "below/x")
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "below/second")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/below/second", withDestinationPath: "new")
    try FileBytes.write([7], path: link)
    #expect(folder.contents(of: "below/new") == [7])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "below/second")
  }

  @Test func whatCannotBeWrittenIsNamed() {
    #expect(throws: DermaFusionError.isFolder(folder.path)) { try FileBytes.write([1], path: folder.path) }
    let path = folder.path + "/none/f"
    #expect(
      throws: DermaFusionError.unwritable(
        path, reason: "there is no folder '\(folder.path)/none'")
    ) { try FileBytes.write([1], path: path) }
  }

  @Test func theFolderThatIsMissingIsNamed() {
    for path in ["a/b", "a/b/"] {
      let target = "\(folder.path)/\(path)"
      #expect(
        throws: DermaFusionError.unwritable(
          target.hasSuffix("/") ? String(target.dropLast()) : target,
          reason: "there is no folder '\(folder.path)/a'")
      ) {
        try FileBytes.requireNewFolder(target)
      }
    }
    #expect(throws: Never.self) { try FileBytes.requireNewFolder("\(folder.path)/b/") }
  }

  @Test func aDeviceIsWrittenToAndStaysADevice() throws {
    try FileBytes.write([1, 2, 3], path: "/dev/null")
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
  }
}

extension FileBytes {
  /// Writes one file; see ``write(_:patience:)``.
  static func write(
    _ bytes: [UInt8], path: String, patience: Int = writerPatience
  ) throws(DermaFusionError) {
    try write([(bytes, path)], patience: patience)
  }
}
