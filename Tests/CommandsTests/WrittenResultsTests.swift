import Foundation
import TestFiles
import Testing

@testable import Commands
@testable import DermaFusion
@testable import SystemModule

/// Which files `classify --resume` continues.
@Suite struct WrittenResultsTests {
  /// Whole outputs of the first images of a batch, from none to all of them.
  struct Outputs {
    let images: [String]
    let texts: [[UInt8]]
    let form: WrittenResults.Form
    let words: [String]

    func read(_ bytes: [UInt8]) throws -> WrittenResults {
      try WrittenResults(
        bytes, path: "results", form: form, images: images, model: Self.classifier.get().model,
        computation: Self.classifier.get().computation)
    }

    private static let classifier = Result { try toyClassifier(threadCount: 1, usesMetadata: true) }

    /// The places where the whole output may have been cut off: everywhere in the head and in the last result, and within two
    /// bytes of the others' ends.
    var cuts: [Int] {
      let ends = texts.map(\.count)
      let whole = ends[ends.count - 1]
      return (0...whole).filter { count in
        count <= ends[0] + 2 || count + 2 >= ends[max(ends.count - 2, 0)]
          || ends.contains { abs($0 - count) <= 2 }
      }
    }
  }

  let folder = TemporaryFolder()
  let images: [String]

  init() {
    let folder = folder
    // Cells of these names are quoted, hold line breaks, or are marked as text.
    images = ["a;=1.ppm", "b \"2\", c\n\nd.ppm", "=x.ppm", "'=x.ppm"].enumerated().map { seed, name in
      folder.write(pnm(width: 40, height: 33, seed: seed * 9), to: "images/\(name)")
    }
  }

  static let optionLists = [
    ["--format", "csv"], ["--format", "csv", "--tta"], ["--format", "json"],
    ["--format", "json", "--tta", "--age", "50.5"],
  ]

  func outputs(_ options: [String], imageCount: Int) -> Outputs {
    let images = Array(images[..<imageCount])
    let texts = (1...imageCount).map { count in
      runTool(words: ["classify", "--threads", "1"] + images[..<count] + options).outputBytes
    }
    let asked: ResultOptions = options.contains("--tta") ? .views : []
    let isCSV = options.contains("csv")
    let header = ClassificationCSV(labels: .ham10000, options: asked).header
    return Outputs(
      images: images, texts: [isCSV ? Array(header.utf8) : []] + texts,
      form: isCSV ? .csv(header: header) : .json(asked),
      words: ["classify", "--threads", "1"] + images + options)
  }

  /// Outputs of one and of four images that were cut off: the whole results stay, and the rest is made again.
  @Test(arguments: optionLists, [1, 4])
  func aPrefixIsContinued(options: [String], imageCount: Int) throws {
    let outputs = self.outputs(options, imageCount: imageCount)
    let whole = try #require(outputs.texts.last)
    let age = options.contains("--age") ? 50.5 : nil
    let metadata = try PatientMetadata(ageInYears: age)
    for count in outputs.cuts {
      var results = try outputs.read(Array(whole[..<count]))
      let done = outputs.texts.lastIndex { $0.count <= count } ?? 0
      let kept = count < outputs.texts[0].count ? 0 : outputs.texts[done].count
      let taken = try outputs.images.map {
        try results.take($0, metadata: metadata, completed: { nil }) { nil }
      }
      let expected = outputs.images.indices.map { $0 < done }
      guard results.byteCount == kept, results.count == done, taken == expected else {
        Issue.record(
          "after \(count) of \(whole.count) bytes \(results.byteCount) are kept, \(taken) are done")
        return
      }
    }
  }

  /// The same by the command itself, cut off near the end of each result and in the middle of the last one.
  @Test(arguments: optionLists) func aContinuedBatchEndsInTheSameFile(options: [String]) throws {
    let outputs = self.outputs(options, imageCount: 2)
    let whole = try #require(outputs.texts.last)
    let folder = TemporaryFolder()
    let words = outputs.words + ["--output", folder.path + "/results", "--resume"]
    let ends = outputs.texts.map(\.count)
    let middle = (ends[1] + ends[2]) / 2
    for count in Set(ends.flatMap { [$0 - 2, $0 - 1, $0, $0 + 1, $0 + 2] } + [middle]).sorted()
    where (0...whole.count).contains(count) {
      folder.write(Array(whole[..<count]), to: "results")
      let result = runTool(words: words)
      guard result.status == .success, folder.contents(of: "results") == whole else {
        Issue.record("interrupted after \(count) of \(whole.count) bytes: \(result.errors)")
        return
      }
    }
  }

  /// One byte more or another one, at every place but inside of words, of the results with the most members: refused, or
  /// no whole result is lost.
  @Test(arguments: [optionLists[1], optionLists[3]])
  func noDamageCostsAWholeResult(options: [String]) throws {
    let outputs = self.outputs(options, imageCount: 2)
    let whole = try #require(outputs.texts.last)
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    for place in 0...whole.count
    where !whole[max(place - 2, 0)..<min(place + 2, whole.count)].allSatisfy(letters.contains) {
      for (byte, replaced) in [("\"", 0), ("\n", 0), ("\"", 1), (",", 1)] {
        var damaged = whole
        damaged.replaceSubrange(place..<min(place + replaced, whole.count), with: byte.utf8)
        guard let results = try? outputs.read(damaged) else { continue }
        // What is behind the kept bytes is the second result without its end.
        let lost = damaged.count - results.byteCount
        let first = outputs.texts[1].count
        guard lost == 0 || (place >= first && results.byteCount == first && results.count == 1) else {
          Issue.record("'\(byte)' at \(place) of \(whole.count) bytes: \(lost) bytes would be removed")
          return
        }
      }
    }
  }

  /// Texts and bytes of other origin, alone and behind results.
  @Test(arguments: [["--format", "csv"], ["--format", "json"]])
  func aFileOfOtherOriginIsLeftAsItIs(options: [String]) throws {
    let outputs = self.outputs(options, imageCount: 2)
    let (start, one, whole) = (outputs.texts[0], outputs.texts[1], outputs.texts[2])
    let thesis = Array(String(repeating: "A thesis without a line feed. ", count: 7000).utf8)
    let binary = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
    let files = [
      thesis, binary, [0x0A], start + thesis, one + thesis, one + binary, one + [0x0A],
      whole + Array("x".utf8), Array("\"".utf8) + whole, Array("\u{FEFF}".utf8) + whole,
      Array(String(decoding: whole, as: UTF8.self).replacing("\n", with: "\r\n").utf8),
    ]
    let folder = TemporaryFolder()
    for (index, file) in files.enumerated() {
      folder.write(file, to: "results")
      let result = runTool(words: outputs.words + ["--output", folder.path + "/results", "--resume"])
      #expect(result.status == .failure, "file \(index)")
      #expect(
        result.errors.contains("choose another file, or leave out --resume"), "\(index): \(result.errors)")
      #expect(folder.contents(of: "results") == file, "file \(index) was changed")
    }
  }

  /// One image is broken, and the result of the other must not be taken for its own.
  @Test func namesThatOnlyAnApostropheTellsApartAreTwoImages() throws {
    let folder = TemporaryFolder()
    let images = [
      folder.write("no image", to: "x;'=y.ppm"), folder.write(pnm(width: 40, height: 33), to: "x;=y.ppm"),
    ]
    let words = ["classify"] + images + ["--format", "csv", "--output", folder.path + "/results", "--resume"]
    let first = runTool(words: words)
    let made = folder.contents(of: "results")
    let second = runTool(words: words)
    #expect(first.status == .failure && second.status == .failure, "one of them is no image")
    #expect(first.errors == second.errors)
    #expect(folder.contents(of: "results") == made, "no line is doubled")
    let header = "image,modelSHA256,age,sex,site,instructionSet,precision\n"
    let row = ClassificationCSV.line(["=x.jpg", "abc", "", "unknown", "unknown", "", "int8"])
    var results = try WrittenResults(
      Array((header + row).utf8), path: "results", form: .csv(header: header), images: [],
      model: ModelIdentity(name: "m", version: "1", sha256: "abc"),
      computation: Computation(instructionSet: nil, precision: "int8"))
    #expect(try !results.take("'=x.jpg", metadata: .unknown, completed: { nil }, imageSHA256: { nil }))
    #expect(try results.take("=x.jpg", metadata: .unknown, completed: { nil }, imageSHA256: { nil }))
  }

  /// Results of another model, of other kernels or of another precision have other bits, and a line of fewer members is not a
  /// result.
  @Test(arguments: [["--format", "csv"], ["--format", "json"]])
  func resultsThatWereComputedOtherwiseAreRefused(options: [String]) throws {
    let outputs = self.outputs(options, imageCount: 2)
    let whole = String(decoding: outputs.texts[2], as: UTF8.self)
    let folder = TemporaryFolder()
    let isJSON = options.contains("json")
    let computation = try toyClassifier(threadCount: 1, usesMetadata: true).computation
    let set = try #require(computation.instructionSet)
    var changes = [
      ("\(set)", "sse9", "was computed in float32 on sse9, and this batch computes in float32 on \(set)"),
      ("float32", "bfloat16", "was computed in bfloat16 on \(set)"),
      (
        "0123456789abcdef0123", "ffff456789abcdef0123",
        "line \(isJSON ? 1 : 2) is of another model; choose another file, or leave out --resume\n"
      ),
    ]
    if isJSON {
      changes += [
        ("\"urgent\":false,", "", "has no 'urgent', which every result has"),
        ("\"imageSHA256\":\"", "\"imageSHA256\":null,\"x\":\"", "has no hash of the image"),
      ]
    }
    for (text, other, message) in changes {
      let file = whole.replacing(text, with: other)
      #expect(file != whole, "\(text)")
      folder.write(file, to: "results")
      let result = runTool(words: outputs.words + ["--output", folder.path + "/results", "--resume"])
      #expect(result.status == .failure && result.errors.contains(message), "\(result.errors)")
      #expect(folder.contents(of: "results") == Array(file.utf8))
    }
  }

  /// A file that has an image's result twice is no output of a batch that names the image once.
  @Test(arguments: [["--format", "csv"], ["--format", "json"]])
  func aFileWithAResultTwiceIsRefused(options: [String]) throws {
    let folder = TemporaryFolder()
    let images = (0..<3).map { folder.write(pnm(width: 40, height: 33, seed: $0), to: "\($0).ppm") }
    let whole = runTool(words: ["classify"] + images + options).output
    var lines = whole.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    let header = options.contains("csv") ? 1 : 0
    lines.insert(lines[header], at: header + 2)
    let file = lines.joined(separator: "\n")
    folder.write(file, to: "results")
    let resume = options + ["--output", folder.path + "/results", "--resume"]
    let result = runTool(words: ["classify"] + images + resume)
    #expect(result.status == .failure)
    #expect(
      result.errors.contains(
        "/results: line \(header + 3) is another result of \(images[0]), which has one in line \(header + 1)"),
      "\(result.errors)")
    #expect(folder.contents(of: "results") == Array(file.utf8))
    // A batch that has other images too.
    let others = runTool(words: ["classify", images[1]] + resume)
    #expect(others.status == .failure && others.errors.contains("is another result of"), "\(others.errors)")
  }

  @Test func aModelWhoseIdsHoldSemicolonsContinuesItsTable() throws {
    let classes = (0..<3).map { "a;b\($0)" }
    let header =
      "image," + classes.joined(separator: ",") + ",modelSHA256,age,sex,site,instructionSet,precision\n"
    let rows = "x.png,0.1,0.2,0.7,abc,,unknown,unknown,avx2,float32\n"
    let model = ModelIdentity(name: "m", version: "1", sha256: "abc")
    var results = try WrittenResults(
      Array((header + rows).utf8), path: "results", form: .csv(header: header), images: ["x.png"],
      model: model, computation: Computation(instructionSet: "avx2", precision: "float32"))
    #expect(try results.take("x.png", metadata: .unknown, completed: { nil }, imageSHA256: { nil }))
  }

  /// A text of 17 MB took a minute when each wrong end was looked for from the beginning.
  @Test func manyLinesAreReadOnce() throws {
    let one = self.outputs(["--format", "csv"], imageCount: 1)
    let outputs = Outputs(
      images: one.images + [String](repeating: one.images[0], count: 999), texts: one.texts, form: one.form,
      words: one.words)
    let row = Array(outputs.texts[1][outputs.texts[0].count...])
    let rows = [[UInt8]](repeating: row, count: 1000).flatMap { $0 }
    #expect(try outputs.read(outputs.texts[0] + rows).count == 1000)
    // A quote that nothing closes, and after it thousands of line feeds.
    #expect(throws: DermaFusionError.self) {
      try outputs.read(outputs.texts[0] + Array("\"".utf8) + rows + [UInt8](repeating: 0x0A, count: 1 << 18))
    }
  }
}
