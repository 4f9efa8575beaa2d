import Foundation
import Testing

@testable import Commands

@Suite struct ImageSourceTests {
  @Test func aFolderStandsForTheImagesBelowItSortedByPath() throws {
    let folder = TemporaryFolder()
    for name in ["b.PNG", "a/z.jpg", "a/b/c.pnm", "Z.jpeg", "é.ppm", "c.pgm"] { folder.write("x", to: name) }
    for name in ["notes.txt", ".hidden.png", ".git/a.png", "png", "a/d.png.txt"] {
      folder.write("x", to: name)
    }
    let (sources, failures) = try ImageSource.sources(for: folder.path)
    #expect(failures == [])
    #expect(
      sources.map(\.name)
        == ["Z.jpeg", "a/b/c.pnm", "a/z.jpg", "b.PNG", "c.pgm", "é.ppm"].map { "\(folder.path)/\($0)" })
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

  @Test func writingReplacesAFileAtOnceAndLeavesNothingElse() throws {
    let path = folder.write("old", to: "out/f.npy")
    try FileBytes.write(Array("new".utf8), path: path)
    #expect(folder.contents(of: "out/f.npy") == Array("new".utf8))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out") == ["f.npy"])
  }

  @Test func whatASymbolicLinkLeadsToIsReplaced() throws {
    let path = folder.write("old", to: "target")
    let link = folder.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try FileBytes.write([1, 2], path: link)
    #expect(folder.contents(of: "target") == [1, 2])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
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
