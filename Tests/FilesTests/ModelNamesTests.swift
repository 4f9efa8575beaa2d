import SystemModule
import Testing

@testable import Files

/// The names that a `config.json` may have, and the part of its content that an error shows.
@Suite struct ModelNamesTests {
  private func parse(replacing piece: String, with replacement: String) throws -> ModelConfiguration {
    let text = ModelConfigurationTests.valid.replacing(piece, with: replacement)
    try #require(text != ModelConfigurationTests.valid)
    return try ModelConfiguration(parsing: Array(text.utf8))
  }

  private func expectRefusedName(_ name: String) {
    let classes = #"["akiec","bcc","bkl","df","mel","nv","vasc"]"#
    for (key, piece, replacement) in [
      ("classes[6]", #""vasc""#, "\"\(name)\""), ("name", #""Test""#, "\"\(name)\""),
      ("classes[0].name", classes, #"[{"class":"a","name":"\#(name)"},{"class":"b"}]"#),
    ] {
      #expect(throws: DermaFusionError.malformedText(key: key)) {
        try parse(replacing: piece, with: replacement)
      }
    }
  }

  /// A direction mark reached the terminal, and U+FFFF made plots that are no XML.
  @Test(
    arguments: [
      0x7, 0x1B, 0x7F, 0x85, 0x9B, 0x61C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066, 0x2069,
      0xFDD0,
      0xFDEF, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF,
    ] as [UInt32])
  func charactersThatAreUnfitForNamesAreRefused(value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    let units = UTF16.encode(scalar)!.map { String(UInt32($0) + 0x10000, radix: 16).dropFirst() }
    expectRefusedName("v" + units.map { "\\u\($0)" }.joined())
    if value >= 0x20 { expectRefusedName("v\(scalar)") }
  }

  /// A class id of 1 MB ended the program.
  @Test(arguments: [201, 1 << 20]) func longNamesAreRefused(count: Int) {
    expectRefusedName(String(repeating: "x", count: count))
  }

  @Test func namesOfOtherLanguagesAreRead() throws {
    for name in ["\u{E9}", "e\u{301}", "黒色腫", "ورم", "👩‍⚕️", "a\u{A0}b", String(repeating: "é", count: 200)] {
      #expect(try parse(replacing: #""vasc""#, with: "\"\(name)\"").classes[6].id == name)
    }
  }

  /// A number of 3 MB was shown in full.
  @Test func ofALongNumberOnlyTheBeginningIsShown() throws {
    let number = "1" + String(repeating: "0", count: 3 << 20)
    let error = #expect(throws: DermaFusionError.self) {
      try parse(replacing: #""temperature":1.25"#, with: #""temperature":\#(number)"#)
    }
    #expect(
      error?.description == """
        "temperature" is 1\(String(repeating: "0", count: 39))…, and must be above 0, in 0.001...1000
        """)
  }

  @Test(arguments: [
    ("swin_s3_tiny_224", "swin_tiny_patch4_window7_224"), ("mobilevit_s", "mobilenetv3_small_100"),
    ("vit_b_16", "vit_base_patch16_224"), ("resnetv2_50", "resnet50"), ("resnet50b", "resnet50"),
  ])
  func theNearestNameIsOfTheSameKind(wanted: String, nearest: String) {
    let names = [
      "convnext_tiny", "regnety_002", "resnet18", "resnet50", "mobilenetv3_small_100", "vit_base_patch16_224",
      "swin_tiny_patch4_window7_224", "densenet121",
    ]
    let message = DermaFusionError.unknownArchitecture(wanted, of: names).message
    #expect(message.contains("the nearest are \(nearest), "), "\(message)")
  }
}
