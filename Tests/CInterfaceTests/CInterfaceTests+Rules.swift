import CDermaFusion
import DermaFusion
import Files
import Foundation
import ImageCodecs
import TestFiles
import Testing

@testable import DermaFusion

/// The faults of callers.
extension CInterfaceTests {
  @Test func handlesThatAreNoneAreRefused() throws {
    let classifier = try Self.open(threads: 1)
    let bytes = [UInt8](try Data(contentsOf: image))
    let result = try classify(classifier, bytes)
    var error = dermafusion_error()
    for handle in [0, 1, result, classifier + 1000, .max] {
      var made: dermafusion_result = 7
      #expect(
        dermafusion_classify_bytes(handle, bytes, bytes.count, nil, &made, &error)
          == DERMAFUSION_INVALID_HANDLE)
      #expect(made == 0)
      #expect(Self.message(error) == "\(handle) is no open classifier")
    }
    #expect(dermafusion_result_close(classifier, &error) == DERMAFUSION_INVALID_HANDLE)
    #expect(dermafusion_classifier_close(result, &error) == DERMAFUSION_INVALID_HANDLE)
    #expect(dermafusion_result_close(0, nil) == DERMAFUSION_OK)
    #expect(dermafusion_result_close(result, nil) == DERMAFUSION_OK)
    #expect(dermafusion_result_close(result, nil) == DERMAFUSION_INVALID_HANDLE)
    #expect(dermafusion_classifier_close(classifier, nil) == DERMAFUSION_OK)
    #expect(dermafusion_classifier_close(classifier, nil) == DERMAFUSION_INVALID_HANDLE)
    #expect(dermafusion_class_id(classifier, 0) == nil)
  }

  @Test func whatBreaksARuleIsNamed() throws {
    let classifier = try Self.open(threads: 1)
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    var error = dermafusion_error()
    var result: dermafusion_result = 0
    func expect(_ status: dermafusion_status, _ code: Int, _ text: String) {
      #expect(status == code)
      #expect(error.code == code)
      #expect(Self.message(error).contains(text), "\(Self.message(error))")
    }
    var opened: dermafusion_classifier = 0
    let invalid = DERMAFUSION_INVALID_ARGUMENT
    expect(dermafusion_open(nil, 1, &opened, &error), invalid, "folder is NULL")
    expect(dermafusion_open("/nowhere", 1, nil, &error), invalid, "classifier is NULL")
    expect(dermafusion_open("/nowhere", 1025, &opened, &error), invalid, "1025")
    expect(dermafusion_open("/nowhere", -1, &opened, &error), invalid, "-1")
    expect(dermafusion_open("/nowhere", 1, &opened, &error), DERMAFUSION_MODEL_NOT_FOUND, "/nowhere")
    let latin1: [CChar] = [CChar(bitPattern: 0xFC), 0]
    expect(dermafusion_open(latin1, 1, &opened, &error), invalid, "folder is not UTF-8")
    let cut = String(repeating: "ü", count: 900)
    expect(dermafusion_open(cut, 1, &opened, &error), DERMAFUSION_MODEL_NOT_FOUND, "üü")
    #expect(!Self.message(error).contains("\u{FFFD}"), "a character was cut in two")
    expect(
      dermafusion_open_memory(bytes, bytes.count, nil, 0, 1, &opened, &error), invalid, "weights is NULL")
    expect(
      dermafusion_open_memory(bytes, bytes.count, bytes, 8, 1, &opened, &error), DERMAFUSION_INVALID_MODEL,
      "config.json")
    expect(dermafusion_classify_bytes(classifier, nil, 3, nil, &result, &error), invalid, "bytes is NULL")
    expect(dermafusion_classify_bytes(classifier, bytes, .max, nil, nil, &error), invalid, "result is NULL")
    expect(dermafusion_classify_bytes(classifier, bytes, -1, nil, &result, &error), invalid, "size")
    expect(
      dermafusion_classify_bytes(classifier, bytes, 40, nil, &result, &error), DERMAFUSION_INVALID_IMAGE,
      "JPEG")
    for (width, height, rowBytes, layout) in [
      (0, 40, 120, 0), (40, 0, 120, 0), (40, 40, 119, 0), (40, 40, 120, 3), (40, 40, 120, -1),
      (.max, 2, .max, 0),
      (-1, -1, 8, 0), (40, .min, 120, 0), (.min, 40, 120, 0), (40, 40, .min, 0),
    ] {
      #expect(
        dermafusion_classify_pixels(
          classifier, bytes, width, height, rowBytes, Int32(layout), nil, &result, &error) == invalid)
    }
    expect(
      dermafusion_classify_pixels(classifier, bytes, 20, 20, 60, 0, nil, &result, &error),
      DERMAFUSION_INVALID_IMAGE, "20x20 is under 32x32")
    var request = dermafusion_request()
    expect(
      dermafusion_classify_bytes(classifier, bytes, bytes.count, &request, &result, &error), invalid,
      "size is 0")
    dermafusion_request_init(&request)
    request.age = 130.5
    expect(
      dermafusion_classify_bytes(classifier, bytes, bytes.count, &request, &result, &error),
      DERMAFUSION_INVALID_METADATA, "130.5")
    dermafusion_request_init(&request)
    "moon".withCString { moon in
      request.site = moon
      expect(
        dermafusion_classify_bytes(classifier, bytes, bytes.count, &request, &result, &error),
        DERMAFUSION_INVALID_METADATA, #"site "moon" is not one of abdomen, "#)
      request.site = nil
      request.map_class = moon
      expect(
        dermafusion_explain_bytes(classifier, bytes, bytes.count, &request, &result, &error),
        DERMAFUSION_UNKNOWN_CLASS, "moon")
      request.map_class = nil
      request.map_layer = moon
      expect(
        dermafusion_explain_bytes(classifier, bytes, bytes.count, &request, &result, &error),
        DERMAFUSION_UNKNOWN_LAYER, "moon")
    }
    dermafusion_request_init(&request)
    latin1.withUnsafeBufferPointer { text in
      request.name = text.baseAddress
      expect(
        dermafusion_classify_bytes(classifier, bytes, bytes.count, &request, &result, &error), invalid,
        "name is not UTF-8")
    }
    dermafusion_request_init(nil)
    #expect(result == 0 && opened == 0)
  }

  /// A size that no file has, as an uninitialised variable holds one, is refused before anything is copied.
  @Test func sizesBeyondEveryLimitAreRefused() throws {
    let classifier = try Self.open(threads: 1)
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    var error = dermafusion_error()
    var result: dermafusion_result = 0
    var opened: dermafusion_classifier = 0
    let sizes = [Int.max, .max - 1, .max / 2, 1 << 62, 1 << 47, 1 << 40, (3 << 29) + 1, .min, .min + 1, -1]
    for size in sizes {
      let calls: [(name: String, status: dermafusion_status)] = [
        ("bytes", dermafusion_classify_bytes(classifier, bytes, size, nil, &result, &error)),
        ("bytes", dermafusion_explain_bytes(classifier, bytes, size, nil, &result, &error)),
        ("table", dermafusion_read_table(bytes, size, "{}", &result, &error)),
        ("configuration", dermafusion_open_memory(bytes, size, bytes, 8, 1, &opened, &error)),
        ("weights", dermafusion_open_memory(bytes, 8, bytes, size, 1, &opened, &error)),
      ]
      for (name, status) in calls {
        #expect(status == DERMAFUSION_INVALID_ARGUMENT, "\(name) of \(size) bytes")
      }
      #expect(
        Self.message(error)
          == "weights has a size of \(UInt(bitPattern: size)) bytes, beyond the limit of 1536 MB")
    }
    // A side or a row of pixels that no memory holds.
    for width in sizes {
      for (height, rowBytes) in [(40, width), (width, 120), (width, width), (1, width), (2, 1 << 62)] {
        for layout in 0...2 {
          for (width, height) in [(width, height), (height, width)] {
            let status = dermafusion_classify_pixels(
              classifier, bytes, width, height, rowBytes, Int32(layout), nil, &result, &error)
            #expect(
              [DERMAFUSION_INVALID_ARGUMENT, DERMAFUSION_INVALID_IMAGE].contains(Int(status)),
              "\(width)x\(height) in rows of \(rowBytes)")
          }
        }
      }
    }
    #expect(result == 0 && opened == 0)
  }

  /// A name is drawn under the map: one of megabytes would make a picture of gigabytes.
  @Test func aTextBeyondItsLimitIsRefusedAndALongNameIsDrawnShortened() throws {
    let classifier = try Self.open(threads: 1)
    defer { dermafusion_classifier_close(classifier, nil) }
    let bytes = [UInt8](try Data(contentsOf: image))
    var error = dermafusion_error()
    var result: dermafusion_result = 0
    var request = dermafusion_request()
    dermafusion_request_init(&request)
    let megabytes = [CChar](repeating: 0x61, count: 3 << 20) + [0]
    for member in [
      \dermafusion_request.name, \.sex, \.site, \.map_class, \.map_method, \.map_layer,
    ] {
      megabytes.withUnsafeBufferPointer { text in
        var request = request
        request[keyPath: member] = text.baseAddress
        #expect(
          dermafusion_explain_bytes(classifier, bytes, bytes.count, &request, &result, &error)
            == DERMAFUSION_INVALID_ARGUMENT)
        #expect(Self.message(error).contains("is longer than 65536 bytes"), "\(Self.message(error))")
      }
    }
    #expect(dermafusion_image_id(megabytes, &result, &error) == DERMAFUSION_INVALID_ARGUMENT)
    func picture(ofName count: Int) throws -> (width: Int, height: Int) {
      let name = [CChar](repeating: 0x61, count: count) + [0]
      return try name.withUnsafeBufferPointer { text in
        request.name = text.baseAddress
        var result: dermafusion_result = 0
        var (start, size): (UnsafePointer<UInt8>?, UInt64) = (nil, 0)
        try #require(
          dermafusion_explain_bytes(classifier, bytes, bytes.count, &request, &result, &error)
            == DERMAFUSION_OK, "\(Self.message(error))")
        defer { dermafusion_result_close(result, nil) }
        try #require(dermafusion_result_picture(result, &start, &size, &error) == DERMAFUSION_OK)
        let drawn = try ImageDecoder.decode(Array(UnsafeBufferPointer(start: start, count: Int(size))))
        return (drawn.width, drawn.height)
      }
    }
    let (long, longest) = try (picture(ofName: 256), picture(ofName: 65_535))
    #expect(long == longest, "only the beginning of a long name is drawn")
  }

  @Test func aTableIsReadAsTheCommandLineReadsIt() throws {
    let table = Array("file_name;age;localization\nx\\a.png;85+;moon\nb;old;\n".utf8)
    let request = #"{"name":"t.csv","images":["x/a.png","b.jpg","","c.png"]}"#
    var result: dermafusion_result = 0
    var error = dermafusion_error()
    #expect(
      dermafusion_read_table(table, table.count, request, &result, &error) == DERMAFUSION_OK,
      "\(Self.message(error))")
    let view = try view(result)
    #expect(view.class_count == 0)
    let json = String(cString: view.json)
    #expect(Int(view.json_size) == json.utf8.count)
    let expected = try MetadataTable.answer(table, to: Array(request.utf8)).text
    #expect(json == expected)
    #expect(json.hasPrefix(#"{"images":[{"age":85,"sex":"unknown","site":"unknown"},{"error":"#), "\(json)")
    #expect(dermafusion_result_close(result, nil) == DERMAFUSION_OK)
    let german = #"{"name":"t.csv","images":["x/a.png","b.jpg"],"language":"de"}"#
    #expect(dermafusion_read_table(table, table.count, german, &result, &error) == DERMAFUSION_OK)
    let words = String(cString: try self.view(result).json)
    #expect(words.contains("Zeile 3, Spalte „age“: Der Wert „old“ ist ungültig."), "\(words)")
    #expect(words.contains("in t.csv ist eine Stelle kein bekanntes Wort"), "\(words)")
    #expect(dermafusion_result_close(result, nil) == DERMAFUSION_OK)
    let refusals: [(String, String?, Int, String)] = [
      ("age\n1\n", german, DERMAFUSION_INVALID_METADATA, "t.csv: die Spalte „image_id“ fehlt"),
      (
        "image\na\n", german.replacing("de", with: "it"), DERMAFUSION_INVALID_ARGUMENT,
        "language \"it\" is not one of"
      ),
      ("age\n1\n", request, DERMAFUSION_INVALID_METADATA, "t.csv: the column 'image_id' is missing"),
      ("image\n\"a\n", request, DERMAFUSION_INVALID_METADATA, "never closed"),
      ("image\na\n", "{}", DERMAFUSION_INVALID_ARGUMENT, "\"images\""),
      ("image\na\n", nil, DERMAFUSION_INVALID_ARGUMENT, "request is NULL"),
    ]
    for (text, request, code, message) in refusals {
      let bytes = Array(text.utf8)
      #expect(dermafusion_read_table(bytes, bytes.count, request, &result, &error) == code)
      #expect(result == 0)
      #expect(Self.message(error).contains(message), "\(Self.message(error))")
    }
    #expect(
      dermafusion_read_table(nil, 1, request, &result, &error) == DERMAFUSION_INVALID_ARGUMENT)
  }

  @Test func aFolderIsListedAsTheCommandLineListsIt() throws {
    let folder = TemporaryFolder()
    for name in ["patient.Smith", "b/IM1", "a.txt", ".hidden.ppm"] {
      folder.write("P6 1 1 255\n...\(name)", to: name)
    }
    folder.write("no image", to: "README")
    folder.write("GIF89a", to: "moving")
    var result: dermafusion_result = 0
    var error = dermafusion_error()
    try #require(
      dermafusion_list_images(folder.path, &result, &error) == DERMAFUSION_OK, "\(Self.message(error))")
    let images = try FolderImages(folder.path)
    #expect(images.paths == ["a.txt", "b/IM1", "patient.Smith"].map { "\(folder.path)/\($0)" })
    let answer: JSONValue = .object([
      "images": .strings(images.paths),
      "notes": .strings(["\(folder.path): left out: 1 GIF file, which cannot be read"]),
    ])
    #expect(String(cString: try view(result).json) == answer.text)
    #expect(dermafusion_result_close(result, nil) == DERMAFUSION_OK)
    #expect(dermafusion_list_images("\(folder.path)/none", &result, &error) == DERMAFUSION_FAILED)
    #expect(Self.message(error).contains("/none") && result == 0)
    for (path, name) in [("d/patient.Smith", "patient.Smith"), ("d/a.b.JPG", "a.b"), ("-", "-"), ("", "")] {
      try #require(dermafusion_image_id(path, &result, &error) == DERMAFUSION_OK)
      #expect(String(cString: try view(result).json) == "\"\(name)\"")
      #expect(dermafusion_result_close(result, nil) == DERMAFUSION_OK)
    }
  }

  @Test func theVersionsAreThoseOfTheHeaderAndTheProgram() {
    #expect(dermafusion_abi_version() == DERMAFUSION_ABI_VERSION)
    #expect(String(cString: dermafusion_version()) == DermaFusionVersion.current)
  }

  /// Bytes of several frames are refused with their number, and answered where a frame is asked for.
  @Test func aFrameIsAskedForByTheRequest() throws {
    let classifier = try Self.open()
    defer { dermafusion_classifier_close(classifier, nil) }
    let path = Self.root.appending(path: "ParityFixtures/formats/dicom_three_native.dcm")
    let bytes = [UInt8](try Data(contentsOf: path))
    var request = dermafusion_request()
    dermafusion_request_init(&request)
    var texts: Set<String> = []
    for frame: UInt32 in 0...4 {
      request.frame = frame
      var result: dermafusion_result = 0
      var error = dermafusion_error()
      let status = dermafusion_classify_bytes(classifier, bytes, bytes.count, &request, &result, &error)
      if frame == 0 || frame == 4 {
        #expect(status == DERMAFUSION_INVALID_IMAGE)
        let reason =
          frame == 0 ? "the DICOM holds 3 frames, and one is looked at" : "and frame 4 was asked for"
        #expect(Self.message(error).contains(reason), "\(Self.message(error))")
      } else {
        try #require(status == DERMAFUSION_OK, "\(Self.message(error))")
        texts.insert(String(cString: try view(result).json))
        dermafusion_result_close(result, nil)
      }
    }
    #expect(texts.count == 3)
  }
}
