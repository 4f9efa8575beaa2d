import ImageFiles
import ImagePipeline

/// What decoding an image may cost.
enum DecodingOptions {
  static let all: [any AnyCommandOption] = [pixels, scannedPixels, memory, seconds]

  private static let pixels = CommandOption<Int>.wholeNumber(
    "max-pixels", valueName: "n", in: 1...PixelLimit.count, initial: PixelLimit.count,
    abstract: "Refuse images of more pixels. The default is also the greatest value.")
  private static let scannedPixels = CommandOption<Int>.wholeNumber(
    "max-scanned-pixels", valueName: "n", in: 1...(Int(Int32.max) * 100),
    initial: DecodingLimits.standardScannedPixels,
    abstract: """
      Refuse a JPEG whose pixels times scans are more. Each scan of a progressive file passes over the whole image.
      """)
  private static let memory = CommandOption<Int>.wholeNumber(
    "max-decoding-memory", valueName: "MB", in: 1...(1 << 20), initial: DecodingLimits.standardMemory >> 20,
    abstract: """
      Refuse images that take more memory to decode. Images that are decoded at the same time share this memory and wait \
      for it.
      """)
  private static let seconds = CommandOption<Int>.wholeNumber(
    "max-decoding-time", valueName: "s", in: 1...86_400, initial: Int(DecodingLimits.standardSeconds),
    abstract: "Refuse an image that takes more seconds to decode.")

  static func limits(_ arguments: ParsedArguments) -> DecodingLimits {
    DecodingLimits(
      pixels: arguments.value(of: pixels), scannedPixels: arguments.value(of: scannedPixels),
      memory: arguments.value(of: memory) << 20, seconds: Double(arguments.value(of: seconds)))
  }
}
