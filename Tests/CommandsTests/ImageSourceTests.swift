import Foundation
import SystemModule
import TestFiles
import Testing

@testable import Commands
@testable import ImageCodecs
@testable import ImageFiles

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
    let (paths, failures) = (images.paths, images.failures)
    #expect(failures == [])
    #expect(
      paths
        == ["Z.jpeg", "a/b/c.pnm", "a/z.jpg", "b.PNG", "c.pgm", "d.pbm", "e.jfif", "é.ppm"].map {
          "\(folder.path)/\($0)"
        })
    #expect(try FolderImages(folder.path + "/").paths == paths)
  }

  @Test func aFolderThatHoldsItselfIsEnteredOnce() throws {
    let folder = TemporaryFolder()
    folder.write("x", to: "a/1.png")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/a/loop", withDestinationPath: folder.path)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/linked.png", withDestinationPath: folder.path + "/a/1.png")
    let names = try FolderImages(folder.path).paths
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
    let (paths, failures) = (images.paths, images.failures)
    #expect(failures == [])
    #expect(paths == ["m/deep/1.png", "y/2.png"].map { "\(folder.path)/tree/\($0)" })
    // By the link itself, too.
    #expect(
      try FolderImages("\(folder.path)/tree/a").paths == [
        "\(folder.path)/tree/a/1.png"
      ])
  }

  @Test func whatCannotBeLookedAtIsNamedAndTheRestIsListed() throws {
    let folder = TemporaryFolder()
    folder.write("x", to: "1.png")
    folder.write("y", to: "sub/2.png")
    try link(folder, "broken.jpg", to: "gone")
    try link(folder, "batch.2024", to: "gone")
    try link(folder, "self", to: "self")
    try #require(mkfifo("\(folder.path)/pipe.png", 0o600) == 0)
    try #require(mkfifo("\(folder.path)/pipe", 0o600) == 0)
    let latin1: [UInt8] = Array("\(folder.path)/caf".utf8) + [0xE9]
    for ending in [".JPG\0", ".txt\0"] {
      let name: [UInt8] = latin1 + Array(ending.utf8)
      let file = name.withUnsafeBytes { fopen($0.baseAddress!.assumingMemoryBound(to: CChar.self), "w") }
      fclose(file)
    }
    let made = (latin1 + [0]).withUnsafeBytes {
      mkdir($0.baseAddress!.assumingMemoryBound(to: CChar.self), 0o700)
    }
    try #require(made == 0)
    let images = try FolderImages(folder.path)
    let (paths, failures) = (images.paths, images.failures)
    #expect(paths == ["\(folder.path)/1.png", "\(folder.path)/sub/2.png"])
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

  // MARK: - By content

  /// A DICOM file of 40x40 black pixels, or only its beginning.
  private func dicom(
    mediaClass: String = "1.2.840.10008.5.1.4.1.1.77.1.4", syntax: String = "1.2.840.10008.1.2.1"
  ) -> [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func element(_ tag: Int, _ type: String, _ value: [UInt8]) -> [UInt8] {
      let value = value + (value.count % 2 == 0 ? [] : [0])
      return number(tag >> 16, 2) + number(tag & 0xFFFF, 2) + Array(type.utf8)
        + (type == "OB" ? [0, 0] + number(value.count, 4) : number(value.count, 2)) + value
    }
    var file = [UInt8](repeating: 0, count: 128) + Array("DICM".utf8)
    file +=
      element(0x0002_0002, "UI", Array(mediaClass.utf8)) + element(0x0002_0010, "UI", Array(syntax.utf8))
    for (tag, value) in [
      (0x0028_0002, 3), (0x0028_0010, 40), (0x0028_0011, 40), (0x0028_0100, 8), (0x0028_0101, 8),
    ] { file += element(tag, "US", number(value, 2)) }
    file += element(0x0028_0004, "CS", Array("RGB ".utf8))
    return file + element(0x7FE0_0010, "OB", [UInt8](repeating: 0, count: 4800))
  }

  /// A camera's raw photograph: a preview, and below it what the sensor saw, far behind the beginning.
  private var raw: [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func directory(_ entries: [(Int, Int)]) -> [UInt8] {
      number(entries.count, 2)
        + entries.flatMap { number($0, 2) + number(4, 2) + number(1, 4) + number($1, 4) }
        + number(0, 4)
    }
    let first = 50_000
    let below = first + 2 + 2 * 12 + 4
    return Array("II*\0".utf8) + number(first, 4) + [UInt8](repeating: 0, count: first - 8)
      + directory([(254, 1), (330, below)]) + directory([(262, 32803)])
  }

  /// Discs of hospitals have DICOM files whose names have no ending, or what looks like one.
  @Test func aFileIsAnImageByItsContentWhereItsNameDoesNotTell() throws {
    let folder = TemporaryFolder()
    let images = [
      "DICOM/IM000001", "DICOM/1.2.840.113619.2.55.3.604688119", "photo", "scan.bak", "x.json", "really.heic",
      "y.nef",
    ]
    for name in images { folder.write(name.hasPrefix("DICOM") ? dicom() : pnm(), to: name) }
    folder.write(dicom(mediaClass: "1.2.840.10008.1.3.10"), to: "DICOMDIR")
    folder.write([UInt8](repeating: 0, count: 128) + "DICM".utf8 + [0, 0, 0, 0], to: "sub/dicomdir")
    // A report and a document are DICOM, and no images; nor are films, documents and texts, whatever they begin with.
    folder.write(dicom(mediaClass: "1.2.840.10008.5.1.4.1.1.88.33"), to: "DICOM/SR000001")
    folder.write(dicom(mediaClass: "1.2.840.10008.5.1.4.1.1.104.1"), to: "DICOM/PDF00001")
    folder.write("%PDF-1.4", to: "report.pdf")
    folder.write([0, 0, 0, 24] + "ftypmp42".utf8 + [UInt8](repeating: 0, count: 300), to: "film.mp4")
    folder.write("P1 is the first patient\n", to: "notes.txt")
    folder.write("P2,nv\n", to: "labels.csv")
    folder.write("BMI 22.5 and a long text that goes on for some time\n", to: "README")
    for name in ["Thumbs.db", "empty", "checksums.json"] {
      folder.write(name == "empty" ? "" : "{}", to: name)
    }
    folder.write(pnm(), to: ".hidden")
    folder.write(pnm(), to: ".DS_Store")
    let found = try FolderImages(folder.path)
    #expect(found.failures == [])
    #expect(Set(found.paths) == Set(images.map { "\(folder.path)/\($0)" }))
    #expect(
      found.leftOut.words
        == "1 .mp4 file that phones and cameras put beside photographs (\(folder.path)/film.mp4)")
  }

  @Test func imagesThatCannotBeReadAreCountedByTheirContent() throws {
    let folder = TemporaryFolder()
    folder.write(pnm(), to: "a.ppm")
    folder.write("GIF89a", to: "moving")
    folder.write("GIF89a", to: "moving.gif")
    folder.write(raw, to: "raw-without-ending")
    folder.write(raw, to: "b.dng")
    folder.write(dicom(syntax: "1.2.840.10008.1.2.4.81"), to: "IM1")
    let found = try FolderImages(folder.path)
    #expect(found.paths == ["\(folder.path)/a.ppm"])
    #expect(
      found.leftOut.words == "1 .dng, 1 .gif, 1 DICOM, 1 GIF and 1 raw camera files, which cannot be read")
  }

  @Test(.enabled(if: geteuid() != 0, "root can open every file"))
  func filesThatCannotBeOpenedAreCounted() throws {
    let folder = TemporaryFolder()
    folder.write(pnm(), to: "a.ppm")
    chmod(folder.write(dicom(), to: "IM1"), 0)
    #expect(try FolderImages(folder.path).leftOut.words == "1 file that cannot be opened")
  }

  /// Whatever a raw photograph is called and however it comes.
  @Test func rawPhotographsAreRefusedThroughEveryDoor() throws {
    let folder = TemporaryFolder()
    for name in ["a.tif", "a.jpg", "a.dng", "a"] {
      let path = folder.write(raw, to: name)
      let result = runTool("classify", path)
      #expect(
        result.status == .failure && result.errors.contains("raw camera images are not supported"),
        "\(result.errors)")
    }
    let given = runTool("classify", "-", input: raw)
    #expect(
      given.status == .failure && given.errors.contains("raw camera images are not supported"),
      "\(given.errors)")
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
      found.withLock { $0 = (try? FolderImages(root))?.paths ?? [] }
      isDone.signal()
    }
    thread.stackSize = 1 << 18
    thread.start()
    isDone.wait()
    #expect(found.withLock { $0 } == [path + "/x.png"])
  }

  @Test func whatIsNotAFolderIsAFileWhateverItsName() throws {
    let list = try ImageList(["no/such.thing", "-"])
    #expect(list.sources.map(\.name) == ["no/such.thing", "-"])
    #expect(!list.isSingleImage)
    #expect(
      throws: DermaFusionError.usage("'-' was given more than once, but standard input holds one image.")
    ) { try ImageList(["-", "x", "-"]) }
  }

  @Test func tablesKnowAnImageByItsNameWithoutFolderAndEnding() {
    #expect(ImageSource(name: "a/b/ISIC_1.jpg").identifier == "ISIC_1")
    #expect(ImageSource(name: "x.y.png").identifier == "x.y")
    #expect(ImageSource(name: "plain").identifier == "plain")
    #expect(ImageSource(name: "a.b/.png").identifier == ".png")
    // As a character, the slash would be another one with the accent behind it.
    #expect(ImageSource(name: "a/\u{301}b.png").identifier == "\u{301}b")
    #expect(ImageSource(name: "a/b.\u{301}png").identifier == "b.\u{301}png")
    #expect(ImageSource(name: "-").identifier == nil)
  }
}
