import Foundation
import SystemModule
import TestFiles
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
    let images = try FolderImages(folder.path)
    let (sources, failures) = (images.sources, images.failures)
    #expect(failures == [])
    #expect(
      sources.map(\.name)
        == ["Z.jpeg", "a/b/c.pnm", "a/z.jpg", "b.PNG", "c.pgm", "d.pbm", "e.jfif", "é.ppm"].map {
          "\(folder.path)/\($0)"
        })
    #expect(try FolderImages(folder.path + "/").sources == sources)
  }

  @Test func aFolderThatHoldsItselfIsEnteredOnce() throws {
    let folder = TemporaryFolder()
    folder.write("x", to: "a/1.png")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/a/loop", withDestinationPath: folder.path)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/linked.png", withDestinationPath: folder.path + "/a/1.png")
    let names = try FolderImages(folder.path).sources.map(\.name)
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
    let images = try FolderImages("\(folder.path)/tree")
    let (sources, failures) = (images.sources, images.failures)
    #expect(failures == [])
    #expect(sources.map(\.name) == ["m/deep/1.png", "y/2.png"].map { "\(folder.path)/tree/\($0)" })
    // By the link itself, too.
    #expect(
      try FolderImages("\(folder.path)/tree/a").sources.map(\.name) == [
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
    let images = try FolderImages(folder.path)
    let (sources, failures) = (images.sources, images.failures)
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
    #expect(throws: DermaFusionError.folderWithout(folder.path, kind: ImageFileName.kind)) {
      try FolderImages(folder.path)
    }
  }

  /// Images that cannot be read and the tool's own pictures are never left out without a word.
  @Test func whatIsLeftOutIsCountedInOneLine() throws {
    let folder = TemporaryFolder()
    folder.write(pnm(), to: "a.ppm")
    let line = "Note: left out of the folders: 2 .nef, 1 .cr2, 1 .ico and 1 .raf files, which cannot be read"
    for name in ["b.NEF", "sub/c.nef", "d.cr2", "e.raf", "f.ico", ".hidden.cr2", "notes.txt"] {
      folder.write("x", to: name)
    }
    let first = runTool("classify", folder.path)
    #expect(first.status == .success && first.errors == line + ".\n", "\(first.errors)")
    folder.write(pnm(), to: "a-gradcam.png")
    for words in [["classify"], ["report", "--output", folder.path + "/r.html"]] {
      let result = runTool(words: words + [folder.path])
      #expect(
        result.errors.hasPrefix(line + ", and 1 heatmap of gradcam (*-gradcam.png).\n"), "\(result.errors)")
    }
    #expect(runTool("classify", folder.path, "--quiet").errors == "")
    #expect(runTool("classify", folder.path + "/a.ppm").errors == "")
  }

  @Test func aFolderOfUnreadableImagesSaysSo() throws {
    let folder = TemporaryFolder()
    folder.write("x", to: "a.dng")
    let result = runTool("classify", folder.path)
    #expect(result.status == .failure)
    #expect(result.errors.hasSuffix(", but 1 .dng file, which cannot be read\n"), "\(result.errors)")
  }

  /// In a stack of 256 kB, as a thread of a program may have.
  @Test func aFolderOfAThousandLevelsIsWalked() throws {
    let folder = TemporaryFolder()
    var path = folder.path
    for _ in 0..<1000 {
      path += "/d"
      try #require(mkdir(path, 0o700) == 0)
    }
    try #require(FileManager.default.createFile(atPath: path + "/x.png", contents: nil))
    let found = Locked<[String]>([])
    let isDone = DispatchSemaphore(value: 0)
    let root = folder.path
    let thread = Thread {
      found.withLock { $0 = (try? FolderImages(root))?.sources.map(\.name) ?? [] }
      isDone.signal()
    }
    thread.stackSize = 1 << 18
    thread.start()
    isDone.wait()
    #expect(found.withLock { $0 } == [path + "/x.png"])
  }

  @Test func whatIsNotAFolderIsAFileWhateverItsName() throws {
    let list = try ImageList(["no/such.thing", "-"])
    #expect(list.sources == [.file("no/such.thing"), .standardInput])
    #expect(!list.isSingleImage)
    #expect(
      throws: DermaFusionError.usage("'-' was given more than once, but standard input holds one image.")
    ) { try ImageList(["-", "x", "-"]) }
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
