import Foundation
import Testing

@testable import Commands

@Suite struct ImageSourceTests {
  @Test func aFolderStandsForTheImagesBelowItSortedByPath() throws {
    let folder = TemporaryFolder()
    for name in ["b.PNG", "a/z.jpg", "a/b/c.pnm", "Z.jpeg", "é.ppm", "c.pgm", "d.pbm", "e.jfif"] {
      folder.write("x", to: name)
    }
    for name in ["notes.txt", ".hidden.png", ".git/a.png", "png", "a/d.png.txt"] {
      folder.write("x", to: name)
    }
    let (sources, failures) = try ImageSource.sources(for: folder.path)
    #expect(failures == [])
    #expect(
      sources.map(\.name)
        == ["Z.jpeg", "a/b/c.pnm", "a/z.jpg", "b.PNG", "c.pgm", "d.pbm", "e.jfif", "é.ppm"].map {
          "\(folder.path)/\($0)"
        })
    #expect(try ImageSource.sources(for: folder.path + "/").sources == sources)
  }

  @Test func aFolderThatHoldsItselfIsEnteredOnce() throws {
    let folder = TemporaryFolder()
    folder.write("x", to: "a/1.png")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/a/loop", withDestinationPath: folder.path)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/linked.png", withDestinationPath: folder.path + "/a/1.png")
    let names = try ImageSource.sources(for: folder.path).sources.map(\.name)
    #expect(names == ["a/1.png", "linked.png"].map { "\(folder.path)/\($0)" })
  }

  func link(_ folder: TemporaryFolder, _ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/\(name)", withDestinationPath: target)
  }

  @Test func whatLinksLeadToIsListedOnceUnderItsPlainestPath() throws {
    let folder = TemporaryFolder()
    folder.write("x", to: "tree/m/deep/1.png")
    folder.write("x", to: "elsewhere/2.png")
    // Before and after the folder in the order of names, and by two ways to a folder outside.
    try link(folder, "tree/a", to: "m/deep")
    try link(folder, "tree/z", to: "m")
    try link(folder, "tree/y", to: "../elsewhere")
    try link(folder, "tree/m/x", to: "../../elsewhere")
    let (sources, failures) = try ImageSource.sources(for: "\(folder.path)/tree")
    #expect(failures == [])
    #expect(sources.map(\.name) == ["m/deep/1.png", "y/2.png"].map { "\(folder.path)/tree/\($0)" })
    // By the link itself, too.
    #expect(
      try ImageSource.sources(for: "\(folder.path)/tree/a").sources.map(\.name) == [
        "\(folder.path)/tree/a/1.png"
      ])
  }

  @Test func whatCannotBeLookedAtIsNamedAndTheRestIsListed() throws {
    let folder = TemporaryFolder()
    folder.write("x", to: "1.png")
    folder.write("x", to: "sub/2.png")
    try link(folder, "broken.jpg", to: "gone")
    try link(folder, "batch.2024", to: "gone")
    try link(folder, "self", to: "self")
    try #require(mkfifo("\(folder.path)/pipe.png", 0o600) == 0)
    try #require(mkfifo("\(folder.path)/pipe", 0o600) == 0)
    let latin1 = Array("\(folder.path)/caf".utf8) + [0xE9]
    for name in [latin1 + ".JPG".utf8 + [0], latin1 + ".txt".utf8 + [0]] {
      let file = name.withUnsafeBytes { fopen($0.baseAddress!.assumingMemoryBound(to: CChar.self), "w") }
      fclose(file)
    }
    let made = (latin1 + [0]).withUnsafeBytes {
      mkdir($0.baseAddress!.assumingMemoryBound(to: CChar.self), 0o700)
    }
    try #require(made == 0)
    let (sources, failures) = try ImageSource.sources(for: folder.path)
    #expect(sources.map(\.name) == ["\(folder.path)/1.png", "\(folder.path)/sub/2.png"])
    let messages = failures.map { $0.description.dropFirst(folder.path.utf8.count + 1) }
    #expect(
      messages == [
        "batch.2024: is a link to something that is not there",
        "broken.jpg: is a link to something that is not there", "caf\\xE9: the name is not UTF-8 text",
        "caf\\xE9.JPG: the name is not UTF-8 text", "pipe.png: is neither a file nor a folder",
        "self: cannot be read: \(String(cString: strerror(ELOOP)))",
      ])
    let result = runTool("classify", folder.path)
    #expect(result.status == .failure)
    #expect(result.errors.split(separator: "\n").count == 6 + 2)
  }

  @Test func aFolderWithoutImagesIsAnError() {
    let folder = TemporaryFolder()
    folder.write("x", to: "a/readme.md")
    #expect(throws: FileError.folderWithoutImages(folder.path)) { try ImageSource.sources(for: folder.path) }
  }

  @Test func whatIsNotAFolderIsAFileWhateverItsName() throws {
    #expect(try ImageSource.sources(for: "no/such.thing").sources == [.file("no/such.thing")])
    #expect(try ImageSource.sources(for: "-").sources == [.standardInput])
  }

  @Test func tablesKnowAnImageByItsNameWithoutFolderAndEnding() {
    #expect(ImageSource.file("a/b/ISIC_1.jpg").identifier == "ISIC_1")
    #expect(ImageSource.file("x.y.png").identifier == "x.y")
    #expect(ImageSource.file("plain").identifier == "plain")
    #expect(ImageSource.file("a.b/.png").identifier == ".png")
    // As characters, neither the slash nor the dot would be one with the accent behind it.
    #expect(ImageSource.file("a/\u{301}b.\u{301}png").identifier == "\u{301}b")
    #expect(ImageSource.standardInput.identifier == nil)
  }
}

@Suite struct FileBytesTests {
  let folder = TemporaryFolder()

  @Test func readsAWholeFileUpToTheLimit() throws {
    let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let path = folder.write(bytes, to: "f")
    #expect(try FileBytes.read(path: path, limit: 70_000) == bytes)
    #expect(throws: FileError.tooLarge(path, limit: 69_999)) { try FileBytes.read(path: path, limit: 69_999) }
  }

  @Test func everyRuleHasItsError() throws {
    let path = folder.path
    #expect(throws: FileError.notFound("\(path)/none")) { try FileBytes.read(path: "\(path)/none", limit: 9) }
    #expect(throws: FileError.isFolder(path)) { try FileBytes.read(path: path, limit: 9) }
    let empty = folder.write("", to: "empty")
    #expect(throws: FileError.empty(empty)) { try FileBytes.read(path: empty, limit: 9) }
    #expect(throws: FileError.tooLarge("/dev/zero", limit: 99_999)) {
      try FileBytes.read(path: "/dev/zero", limit: 99_999)
    }
    #expect(throws: FileError.self) { try FileBytes.read(path: "\(empty)/below", limit: 9) }
  }

  @Test func aPipeIsWaitedForButNotForEver() throws {
    let path = folder.path + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    #expect(throws: FileError.pipeWithoutWriter(path, seconds: 1)) {
      try FileBytes.read(path: path, limit: 9, patience: 1)
    }
    for pause in [0.0, 0.3] {
      Thread.detachNewThread {
        Thread.sleep(forTimeInterval: pause)
        let pipe = fopen(path, "w")!
        Thread.sleep(forTimeInterval: pause * 5)
        fputs("late", pipe)
        fclose(pipe)
      }
      #expect(try FileBytes.read(path: path, limit: 9, patience: 10) == Array("late".utf8))
    }
  }

  @Test func aPipeThatNobodyReadsIsNamed() throws {
    let path = folder.path + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    #expect(throws: FileError.pipeWithoutReader(path, seconds: 1)) {
      try FileBytes.write(Array("x".utf8), path: path, patience: 1)
    }
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      let pipe = open(path, O_RDONLY)
      Thread.sleep(forTimeInterval: 5)
      close(pipe)
    }
    try FileBytes.write(Array("read".utf8), path: path, patience: 5)
  }

  /// As it is where another program shares the pipe and reads it without waiting.
  @Test func bytesThatAreNotThereYetAreWaitedFor() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
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
    #expect(throws: FileError.isFolder(folder.path)) { try FileBytes.write([1], path: folder.path) }
    let path = folder.path + "/none/f"
    #expect(throws: FileError.unwritable(path, reason: "No such file or directory")) {
      try FileBytes.write([1], path: path)
    }
  }

  @Test func aDeviceIsWrittenToAndStaysADevice() throws {
    try FileBytes.write([1, 2, 3], path: "/dev/null")
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
  }
}
