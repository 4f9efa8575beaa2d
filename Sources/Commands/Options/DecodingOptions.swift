import ImageFiles
import ImagePipeline

/// What decoding an image may cost.
enum DecodingOptions {
  static let all: [any Parameter] = [pixels, scannedPixels, memory, seconds]

  private static let pixels = wholeNumber(
    "max-pixels", valueName: "n", upTo: PixelLimit.count, initial: PixelLimit.count,
    abstract: "Refuse images of more pixels. The default is also the greatest value.")
  private static let scannedPixels = wholeNumber(
    "max-scanned-pixels", valueName: "n", upTo: Int(Int32.max) * 100,
    initial: DecodingLimits.standardScannedPixels,
    abstract: """
      Refuse a JPEG whose pixels times scans are more. Each scan of a progressive file passes over the whole image.
      """)
  private static let memory = wholeNumber(
    "max-decoding-memory", valueName: "MB", upTo: 1 << 20, initial: DecodingLimits.standardMemory >> 20,
    abstract: """
      Refuse images that take more memory to decode. Images that are decoded at the same time share this memory and wait \
      for it.
      """)
  private static let seconds = wholeNumber(
    "max-decoding-time", valueName: "s", upTo: 86_400, initial: Int(DecodingLimits.standardSeconds),
    abstract: "Refuse an image that takes more seconds to decode.")

  private static func wholeNumber(
    _ name: String, valueName: String, upTo most: Int, initial: Int, abstract: String
  ) -> Option<Int> {
    Option(
      name, valueName: valueName, abstract: abstract,
      expectation: "Please provide a whole number from 1 to \(most).", initial: initial,
      defaultValue: String(initial), convert: { Option<Int>.wholeNumber($0, in: 1...most) })
  }

  static func limits(_ arguments: ParsedArguments) -> DecodingLimits {
    DecodingLimits(
      pixels: arguments.value(of: pixels), scannedPixels: arguments.value(of: scannedPixels),
      memory: arguments.value(of: memory) << 20, seconds: Double(arguments.value(of: seconds)))
  }
}
