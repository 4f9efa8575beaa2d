import Foundation
import TestFiles
import Testing

@testable import SystemModule

/// Files appear whole or not at all, several of them together.
@Suite struct PartialFileTests {
  let folder = TemporaryFolder()

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private func text(_ name: String) -> String? {
    folder.contents(of: name).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func severalFilesAppearTogether() throws {
    _ = folder.write("old", to: "a")
    try FileBytes.write([
      (Array("new".utf8), folder.path + "/a"), (Array("other".utf8), folder.path + "/b"),
      (Array("no one's".utf8), "/dev/null"),
    ])
    #expect(text("a") == "new")
    #expect(text("b") == "other")
    #expect(try names() == ["a", "b"])
  }

  @Test func whereOneCannotBeWrittenNoneIs() throws {
    _ = folder.write("old", to: "a")
    #expect(throws: DermaFusionError.self) {
      try FileBytes.write([
        (Array("new".utf8), folder.path + "/a"), (Array("x".utf8), folder.path + "/none/b"),
      ])
    }
    #expect(throws: DermaFusionError.isFolder(folder.path)) {
      try FileBytes.write([(Array("new".utf8), folder.path + "/a"), (Array("x".utf8), folder.path)])
    }
    #expect(text("a") == "old")
    #expect(try names() == ["a"])
  }

  /// A folder takes the second file's place after it was checked: the first gets its old content back.
  @Test func whereOneCannotBePutInPlaceTheOthersComeBack() throws {
    _ = folder.write("old", to: "a")
    let paths = ["a", "b", "c"].map { folder.path + "/" + $0 }
    var partials: [PartialFile] = []
    for path in paths {
      let partial = try PartialFile(path: path)
      try partial.write(Array("new".utf8))
      partials.append(partial)
    }
    try FileManager.default.createDirectory(atPath: paths[2] + "/full", withIntermediateDirectories: true)
    #expect(throws: DermaFusionError.self) { try PartialFile.finish(partials) }
    partials = []
    #expect(text("a") == "old")
    #expect(try names() == ["a", "c"])
  }

  /// On FAT, exFAT and SMB no file has a second name; `link` fails with one of several errors.
  @Test(arguments: [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK, EACCES])
  func withoutSecondNamesTheOthersComeBackToo(failure: Int32) throws {
    _ = folder.write("old a", to: "a")
    _ = folder.write("old b", to: "b")
    func partials(_ names: [String]) throws -> [PartialFile] {
      try names.map { name in
        let partial = try PartialFile(path: folder.path + "/" + name)
        try partial.write(Array("new \(name)".utf8))
        return partial
      }
    }
    func finish(_ partials: [PartialFile]) throws {
      var calls = 0
      try PartialFile.finish(partials) { old, _ in
        calls += 1
        errno = access(old, F_OK) == 0 ? failure : ENOENT
        return -1
      }
      #expect(calls == partials.count - 1)
    }
    var files = try partials(["a", "b", "new", "c"])
    try FileManager.default.createDirectory(
      atPath: folder.path + "/c/full", withIntermediateDirectories: true)
    let error = #expect(throws: DermaFusionError.self) { try finish(files) }
    #expect(error?.message == "\(folder.path)/c: cannot be written: Is a directory")
    files = []
    #expect(text("a") == "old a" && text("b") == "old b")
    #expect(try names() == ["a", "b", "c"])

    files = try partials(["a", "b", "new"])
    try finish(files)
    files = []
    #expect(text("a") == "new a" && text("b") == "new b" && text("new") == "new new")
    #expect(try names() == ["a", "b", "c", "new"])
  }

  /// A folder that takes the place of a file with a backup is neither moved nor removed.
  @Test func aFolderInAFilesPlaceStays() throws {
    let paths = ["a", "b"].map { folder.path + "/" + $0 }
    var partials = try paths.map { try PartialFile(path: $0) }
    try FileManager.default.createDirectory(atPath: paths[0] + "/full", withIntermediateDirectories: true)
    #expect(throws: DermaFusionError.unwritable(paths[0], reason: "Is a directory")) {
      try PartialFile.finish(partials)
    }
    partials = []
    #expect(try names() == ["a"] && FileManager.default.fileExists(atPath: paths[0] + "/full"))
  }

  /// The hidden folder in which a model is written is nothing that a person gave.
  @Test func errorsNameWhatTheCallerKnows() throws {
    let target = folder.path + "/model"
    let name = String(repeating: "n", count: 300)
    #expect(throws: DermaFusionError.unwritable("\(target)/\(name)", reason: "File name too long")) {
      try FileBytes.writeFolder([("\(name)/f", [1])], path: target)
    }
    #expect(throws: DermaFusionError.unwritable("\(target)/below/\(name)", reason: "File name too long")) {
      try FileBytes.writeFolder([("below/\(name)", [1])], path: target)
    }
    #expect(throws: DermaFusionError.unwritable("\(target)/\(name)", reason: "File name too long")) {
      try FileBytes.writeFolder([("a", [1]), ("\(name)", [1])], path: target)
    }
    #expect(
      throws: DermaFusionError.unwritable(
        "\(folder.path)/no/model", reason: "there is no folder '\(folder.path)/no'")
    ) { try FileBytes.writeFolder([("a", [1])], path: folder.path + "/no/model") }
    #expect(try names() == [])
  }

  @Test func aLinkToNothingLeavesNothingWhereTheFileIsNotFinished() throws {
    try FileManager.default.createDirectory(atPath: folder.path + "/below", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link", withDestinationPath: "below/new")
    var file: PartialFile? = try PartialFile(path: folder.path + "/link")
    try file?.write([1])
    file = nil
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/below").isEmpty)
    try FileBytes.write([2], path: folder.path + "/link")
    #expect(folder.contents(of: "below/new") == [2])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/below") == ["new"])
  }

  /// Linux does not follow another user's link in a folder where everybody may write.
  @Test(.enabled(if: isProtected, "only root can plant one, where Linux protects against it"))
  func aPlantedLinkIsNotFollowed() throws {
    let shared = folder.path + "/shared"
    try #require(mkdir(shared, 0o777) == 0 && chmod(shared, 0o1777) == 0)
    _ = folder.write("mine", to: "mine")
    for target in ["mine", "not there"] {
      let link = "\(shared)/\(target)"
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: "\(folder.path)/\(target)")
      try #require(lchown(link, 65_534, 65_534) == 0)
      #expect(throws: DermaFusionError.unwritable(link, reason: "Permission denied")) {
        try FileBytes.write([1, 2], path: link)
      }
    }
    #expect(text("mine") == "mine")
    #expect(try names() == ["mine", "shared"])
  }

  /// True if this process may give a link to another user, and the system protects against such links.
  private static var isProtected: Bool {
    geteuid() == 0
      && (try? String(contentsOfFile: "/proc/sys/fs/protected_symlinks", encoding: .utf8)) == "1\n"
  }

  @Test func anUnwantedFileIsNotReadToItsEnd() throws {
    let zeros = folder.write([UInt8](repeating: 0, count: 70_000), to: "zeros")
    for path in [zeros, "/dev/zero"] {
      var asked = 0
      #expect(throws: DermaFusionError.failure(name: path, reason: "it begins with 0")) {
        try FileBytes.read(path: path, limit: 1 << 30) { start in
          asked += 1
          #expect(start.count >= 4096 && start.count <= 1 << 16, "\(start.count)")
          return "it begins with \(start[0])"
        }
      }
      #expect(asked == 1)
    }
    // A short file is shown whole, a wanted one is read to its end.
    #expect(throws: DermaFusionError.self) {
      try FileBytes.read(path: folder.write("ab", to: "short"), limit: 9) { $0.count == 2 ? "short" : nil }
    }
    #expect(try FileBytes.read(path: zeros, limit: 70_000) { _ in nil }.count == 70_000)
  }

  @Test func aPipeThatStallsEndsLikeASilentOne() throws {
    let path = folder.path + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    let writer = open(path, O_RDWR)
    defer { close(writer) }
    #expect(write(writer, "x", 1) == 1)
    #expect(throws: DermaFusionError.pipeWithoutWriter(path, seconds: 1)) {
      try FileBytes.read(path: path, limit: 9, patience: 1)
    }
  }
}
