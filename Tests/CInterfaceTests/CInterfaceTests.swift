import CDermaFusion
import Foundation
import ImageFiles
import SystemModule
import TestFiles
import TestModels
import Testing

@testable import CInterface
@testable import DermaFusion

/// The functions of dermafusion.h, called as a C program calls them.
@Suite struct CInterfaceTests {
  static let root = FormulaNetwork.fixtures.deletingLastPathComponent().deletingLastPathComponent()
  let image = Self.root.appending(path: "ParityFixtures/images/jpeg_420.jpg")

  /// A small model with the metadata fusion head.
  static let files: (configuration: [UInt8], weights: [UInt8]) = {
    let (network, configuration) = try! FormulaNetwork.all(in: FormulaNetwork.architectures).first {
      $0.network.name == "mobilenetv3_small_100"
    }!
    return (configuration, network.weights())
  }()

  static func open(threads: Int32 = 2) throws -> dermafusion_classifier {
    var classifier: dermafusion_classifier = 0
    var error = dermafusion_error()
    let status = dermafusion_open_memory(
      files.configuration, files.configuration.count, files.weights, files.weights.count, threads,
      &classifier,
      &error)
    try #require(status == DERMAFUSION_OK, "\(message(error))")
    return classifier
  }

  static func message(_ error: dermafusion_error) -> String {
    withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  func classify(
    _ classifier: dermafusion_classifier, _ bytes: [UInt8], _ request: dermafusion_request? = nil
  ) throws -> dermafusion_result {
    var result: dermafusion_result = 0
    var error = dermafusion_error()
    let status =
      if var request {
        dermafusion_classify_bytes(classifier, bytes, bytes.count, &request, &result, &error)
      } else {
        dermafusion_classify_bytes(classifier, bytes, bytes.count, nil, &result, &error)
      }
    try #require(status == DERMAFUSION_OK, "\(Self.message(error))")
    return result
  }

  func view(_ result: dermafusion_result) throws -> dermafusion_view {
    var view = dermafusion_view()
    view.size = UInt32(MemoryLayout<dermafusion_view>.size)
    try #require(dermafusion_result_view(result, &view, nil) == DERMAFUSION_OK)
    return view
  }

  @Test func aResultIsThatOfTheLibrary() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    let expected = try Classifier(
      configuration: Self.files.configuration, weights: Self.files.weights, threadCount: 1
    ).classify(
      encodedImage: bytes,
      metadata: PatientMetadata(ageInYears: 47.5, sex: .female, site: .lowerExtremity))
    let result = try "FEMALE".withCString { sex in
      try "lower extremity".withCString { site in
        try "a \"name\"".withCString { name in
          var request = dermafusion_request()
          dermafusion_request_init(&request)
          (request.age, request.sex, request.site, request.name) = (47.5, sex, site, name)
          return try classify(classifier, bytes, request)
        }
      }
    }
    defer { dermafusion_result_close(result, nil) }
    let view = try view(result)
    #expect(String(cString: view.json) == expected.json(imageName: "a \"name\""))
    #expect(view.json_size == UInt64(expected.json(imageName: "a \"name\"").utf8.count))
    let count = Int(view.class_count)
    #expect(
      [Float](UnsafeBufferPointer(start: view.probabilities, count: count)) == expected.probabilities.values)
    #expect([Float](UnsafeBufferPointer(start: view.logits, count: count)) == expected.logits.values)
    #expect(view.prediction == expected.prediction.map { Int32($0.index) } ?? -1)
    #expect((view.abstains == 1) == expected.abstains)
    #expect(String(cString: view.disclaimer) == Wording.disclaimer)
    #expect(
      (0..<UInt32(count)).map { String(cString: dermafusion_class_id(classifier, $0)) }
        == expected.probabilities.labels.ids)
    #expect(dermafusion_class_id(classifier, UInt32(count)) == nil)
  }

  @Test(arguments: [0, 5, 1]) func pixelsAreRowsThatMayLieApart(padding: Int) throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let (width, height) = (37, 53)
    let packed = (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
    let rowBytes = width * 3 + padding
    var rows = [UInt8](repeating: 0xEE, count: (height - 1) * rowBytes + width * 3)
    for row in 0..<height {
      for offset in 0..<width * 3 { rows[row * rowBytes + offset] = packed[row * width * 3 + offset] }
    }
    var result: dermafusion_result = 0
    #expect(
      dermafusion_classify_pixels(
        classifier, rows, width, height, rowBytes, Int32(DERMAFUSION_RGB), nil, &result, nil)
        == DERMAFUSION_OK)
    defer { dermafusion_result_close(result, nil) }
    let expected = try Classifier(
      configuration: Self.files.configuration, weights: Self.files.weights, threadCount: 1
    ).classify(PixelImage(width: width, height: height, pixels: packed))
    #expect(String(cString: try view(result).json) == expected.json(imageName: ""))
  }

  @Test func aMapIsThatOfTheLibrary() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    let library = try Classifier(
      configuration: Self.files.configuration, weights: Self.files.weights, threadCount: 1)
    let expected = try library.explain(encodedImage: bytes, labels: Array(library.labels), method: .layercam)
    var result: dermafusion_result = 0
    "all".withCString { all in
      "layercam".withCString { method in
        var request = dermafusion_request()
        dermafusion_request_init(&request)
        (request.map_class, request.map_method) = (all, method)
        #expect(
          dermafusion_explain_bytes(classifier, bytes, bytes.count, &request, &result, nil) == DERMAFUSION_OK)
      }
    }
    defer { dermafusion_result_close(result, nil) }
    #expect(try view(result).map_count == UInt32(expected.maps.count))
    for (index, expected) in expected.maps.enumerated() {
      var map = dermafusion_map()
      map.size = UInt32(MemoryLayout<dermafusion_map>.size)
      #expect(dermafusion_result_map(result, UInt32(index), &map, nil) == DERMAFUSION_OK)
      #expect(map.class_index == Int32(expected.classIndex))
      #expect(Int(map.side) == expected.size)
      #expect(
        [Float](UnsafeBufferPointer(start: map.values, count: expected.values.count)) == expected.values)
      #expect(
        [Float](
          UnsafeBufferPointer(start: map.signed_values, count: Int(map.signed_height * map.signed_width)))
          == expected.signedValues)
      #expect(
        [Float](UnsafeBufferPointer(start: map.placed_values, count: expected.values.count))
          == expected.placedValues)
    }
    var map = dermafusion_map()
    map.size = UInt32(MemoryLayout<dermafusion_map>.size)
    #expect(
      dermafusion_result_map(result, UInt32(expected.maps.count), &map, nil) == DERMAFUSION_INVALID_ARGUMENT)
  }

  @Test func anOpenFileIsReadAsItsBytes() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    let expected = try classify(classifier, bytes)
    defer { dermafusion_result_close(expected, nil) }
    let file = try FileHandle(forReadingFrom: image)
    var result: dermafusion_result = 0
    #expect(
      dermafusion_classify_file(classifier, file.fileDescriptor, nil, &result, nil) == DERMAFUSION_OK)
    #expect(String(cString: try view(result).json) == String(cString: try view(expected).json))
    dermafusion_result_close(result, nil)
    // It is at its end and still open.
    var error = dermafusion_error()
    #expect(
      dermafusion_explain_file(classifier, file.fileDescriptor, nil, &result, &error)
        == DERMAFUSION_INVALID_IMAGE)
    #expect(Self.message(error) == "the file is empty")
    try file.seek(toOffset: 0)
    #expect(dermafusion_explain_file(classifier, file.fileDescriptor, nil, &result, nil) == DERMAFUSION_OK)
    #expect(try view(result).map_count == 1)
    dermafusion_result_close(result, nil)
    #expect(dermafusion_classify_file(classifier, -1, nil, &result, &error) == DERMAFUSION_INVALID_IMAGE)
  }

  @Test func aFileThatIsNoImageIsNotReadToItsEnd() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let folder = TemporaryFolder()
    let path = folder.write([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20), to: "notes.txt")
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    var result: dermafusion_result = 0
    #expect(
      dermafusion_classify_file(classifier, file.fileDescriptor, nil, &result, nil)
        == DERMAFUSION_INVALID_IMAGE)
    #expect(try file.offset() < 1 << 17)
  }

  @Test func aResultHasTheFeaturesOfTheNetwork() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    let library = try Classifier(
      configuration: Self.files.configuration, weights: Self.files.weights, threadCount: 1)
    let expected = try library.run(ImageRequest(), onFile: bytes).output.pooled
    #expect(expected.count > 1 && Set(expected).count > 1)
    var explained: dermafusion_result = 0
    #expect(dermafusion_explain_bytes(classifier, bytes, bytes.count, nil, &explained, nil) == DERMAFUSION_OK)
    for result in [try classify(classifier, bytes), explained] {
      let view = try view(result)
      #expect([Float](UnsafeBufferPointer(start: view.features, count: Int(view.feature_count))) == expected)
      dermafusion_result_close(result, nil)
    }
    var description: dermafusion_result = 0
    #expect(dermafusion_describe(classifier, &description, nil) == DERMAFUSION_OK)
    #expect(try view(description).features == nil && view(description).feature_count == 0)
    dermafusion_result_close(description, nil)
  }

  @Test func aClassifierSpeaksALanguageAndARequestAnother() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    func words(_ request: dermafusion_request? = nil) throws -> [String] {
      let result = try classify(classifier, bytes, request)
      defer { dermafusion_result_close(result, nil) }
      let view = try view(result)
      return [view.json, view.summary, view.disclaimer].map { String(cString: $0) }
    }
    let english = try words()
    #expect(english[2] == Wording.disclaimer && !english[0].contains("\"language\""))
    #expect(dermafusion_set_language(classifier, "de", nil) == DERMAFUSION_OK)
    let german = try words()
    #expect(german[1].contains("Das ist keine Diagnose.") && german[0].contains(german[1]))
    #expect(german[2].hasPrefix("DermaFusion ist ein Werkzeug") && german[2].hasSuffix(Wording.disclaimer))
    #expect(german[0].contains("\"disclaimer\":\"\(Wording.disclaimer)\",\"language\":\"de\""))
    var request = dermafusion_request()
    dermafusion_request_init(&request)
    try "fr".withCString { (code) throws in
      request.language = code
      // Not looked at: the size says that the program does not know it.
      #expect(try words(request) == german)
      request.size = UInt32(MemoryLayout<dermafusion_request>.size)
      #expect(try words(request)[1].contains("Ceci n’est pas un diagnostic."))
    }
    var error = dermafusion_error()
    func refusal(age: Double, _ bytes: [UInt8]) -> String {
      var request = dermafusion_request()
      dermafusion_request_init(&request)
      request.age = age
      var result: dermafusion_result = 0
      #expect(
        dermafusion_classify_bytes(classifier, bytes, bytes.count, &request, &result, &error)
          != DERMAFUSION_OK)
      return Self.message(error)
    }
    #expect(refusal(age: 131, bytes) == "das Alter 131,0 liegt nicht zwischen 0 und 130 Jahren")
    #expect(
      refusal(age: .nan, Array(bytes.prefix(400))).hasPrefix("die Bilddatei (JPEG) ist abgeschnitten: "))
    for (name, message) in [
      ("xx", "language \"xx\" is not one of en, de, fr"), (nil, "language is NULL"),
    ] as [(String?, String)] {
      let status = dermafusion_set_language(classifier, name, &error)
      #expect(status == DERMAFUSION_INVALID_ARGUMENT && Self.message(error) == message)
    }
    #expect(try words() == german)
    #expect(dermafusion_set_language(7, "de", &error) == DERMAFUSION_INVALID_HANDLE)
    #expect(dermafusion_set_language(0, "de", &error) == DERMAFUSION_INVALID_HANDLE)
    #expect(dermafusion_set_default_language("xx", &error) == DERMAFUSION_INVALID_ARGUMENT)
  }

  @Test func aProgramOfAnOlderHeaderGetsTheMembersThatItKnows() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    var result: dermafusion_result = 0
    #expect(dermafusion_explain_bytes(classifier, bytes, bytes.count, nil, &result, nil) == DERMAFUSION_OK)
    defer { dermafusion_result_close(result, nil) }
    var map = dermafusion_map()
    // The size of the header's first version.
    map.size = 40
    let foreign = UnsafePointer<Float>(bitPattern: 8)
    map.placed_values = foreign
    #expect(dermafusion_result_map(result, 0, &map, nil) == DERMAFUSION_OK)
    #expect(map.size == 40 && map.side > 0 && map.signed_width > 0 && map.placed_values == foreign)
    map.size = 39
    #expect(dermafusion_result_map(result, 0, &map, nil) == DERMAFUSION_INVALID_ARGUMENT)
    var view = dermafusion_view()
    view.size = 80
    view.features = foreign
    #expect(dermafusion_result_view(result, &view, nil) == DERMAFUSION_OK)
    #expect(view.size == 80 && view.class_count > 0 && view.disclaimer != nil && view.features == foreign)
    view.size = 79
    #expect(dermafusion_result_view(result, &view, nil) == DERMAFUSION_INVALID_ARGUMENT)
  }

  @Test func thePictureIsThatOfTheLibrary() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    let library = try Classifier(
      configuration: Self.files.configuration, weights: Self.files.weights, threadCount: 1)
    var result: dermafusion_result = 0
    "folder/lesion.png".withCString { name in
      var request = dermafusion_request()
      dermafusion_request_init(&request)
      request.name = name
      #expect(
        dermafusion_explain_bytes(classifier, bytes, bytes.count, &request, &result, nil) == DERMAFUSION_OK)
    }
    defer { dermafusion_result_close(result, nil) }
    let expected = try library.explain(encodedImage: bytes).png(imageName: "lesion.png")
    for _ in 0..<2 {
      var (start, size): (UnsafePointer<UInt8>?, UInt64) = (nil, 0)
      #expect(dermafusion_result_picture(result, &start, &size, nil) == DERMAFUSION_OK)
      #expect([UInt8](UnsafeBufferPointer(start: start, count: Int(size))) == expected)
    }
    let classified = try classify(classifier, bytes)
    defer { dermafusion_result_close(classified, nil) }
    var (start, size): (UnsafePointer<UInt8>?, UInt64) = (nil, 1)
    #expect(
      dermafusion_result_picture(classified, &start, &size, nil) == DERMAFUSION_INVALID_ARGUMENT
        && start == nil && size == 0)
    #expect(dermafusion_result_picture(result, nil, &size, nil) == DERMAFUSION_INVALID_ARGUMENT)
  }

  @Test func manyThreadsShareAClassifierThatIsClosedMeanwhile() throws {
    let classifier = try Self.open()
    let bytes = [UInt8](try Data(contentsOf: image))
    let first = try classify(classifier, bytes)
    let expected = String(cString: try view(first).json)
    dermafusion_result_close(first, nil)
    let counts = Locked((right: 0, refused: 0, wrong: 0))
    DispatchQueue.concurrentPerform(iterations: 64) { index in
      if index == 40 { dermafusion_classifier_close(classifier, nil) }
      var result: dermafusion_result = 0
      let status = dermafusion_classify_bytes(classifier, bytes, bytes.count, nil, &result, nil)
      var view = dermafusion_view()
      view.size = UInt32(MemoryLayout<dermafusion_view>.size)
      let isRight =
        dermafusion_result_view(result, &view, nil) == DERMAFUSION_OK
        && String(cString: view.json) == expected
      dermafusion_result_close(result, nil)
      counts.withLock { counts in
        if status == DERMAFUSION_OK, isRight {
          counts.right += 1
        } else if status == DERMAFUSION_INVALID_HANDLE, result == 0 {
          counts.refused += 1
        } else {
          counts.wrong += 1
        }
      }
    }
    let found = counts.withLock { $0 }
    #expect(found.wrong == 0)
    #expect(found.right > 0 && found.refused > 0, "\(found)")
  }
}
