// libFuzzer's targets; `Scripts/checks/fuzz` builds and runs them. FUZZ_TARGET names the one to run.
//
// A target passes when it returns: a typed error is an answer like any other. A crash, a report of AddressSanitizer, a time or
// memory limit of libFuzzer, and a broken property below are findings.

import Commands
import DermaFusion
import Files
import Glibc
import ImageCodecs
import ImagePipeline

@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<Int32>,
  _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

/// Images of a megapixel at most: larger ones differ in nothing but the time they take.
private let limits = DecodingLimits(pixels: 1 << 20, scannedPixels: 1 << 24, memory: 64 << 20, seconds: 20)

/// One line of printable text, as errors must be.
private func requireLine(_ error: some Error) {
  let text = "\(error)"
  precondition(!text.isEmpty && text.count < 20_000, "an error of \(text.count) characters")
}

private func decode(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
  do {
    let whole = try ImageDecoder.decode(bytes, part: .whole, limits: limits)
    let image = whole.pixels
    precondition(image.pixels.count == image.width * image.height * 3)
    // What a network sees is refused only for its size.
    if min(image.width, image.height) >= Preprocessor.minimumSide {
      let seen = try ImageDecoder.decode(bytes, part: .square(size: 33), limits: limits)
      precondition(seen.damage == whole.damage && seen.width == whole.width && seen.height == whole.height)
    }
  } catch {
    requireLine(error)
  }
  return 0
}

/// The facts that are read of a file before a library of the system sees it, and those of a DICOM file on the patient.
private func header(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
  do {
    if let size = try ImageDecoder.statedSize(bytes) { precondition(size.width > 0 && size.height > 0) }
  } catch {
    requireLine(error)
  }
  _ = ImageDecoder.patient(bytes)
  return 0
}

private func safetensors(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  do {
    let file = try SafetensorsFile(bytes: Array(UnsafeBufferPointer(start: bytes, count: count)))
    for tensor in file.tensors { _ = try tensor.floats() }
  } catch {
    requireLine(error)
  }
  return 0
}

private func configuration(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
  do { _ = try ModelConfiguration(parsing: bytes) } catch { requireLine(error) }
  do { _ = try EnsembleConfiguration(parsing: bytes) } catch { requireLine(error) }
  do {
    // What is written reads back as the same text.
    let value = try JSONParser.parse(bytes)
    let text = Array(value.text.utf8)
    let again = try JSONParser.parse(text)
    precondition(again.text == value.text)
  } catch {
    requireLine(error)
  }
  return 0
}

/// A result of somebody's history, with its classes, as the page reads it.
private func result(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  do {
    let stored = try ImportedResult(json: Array(UnsafeBufferPointer(start: bytes, count: count))) { _ in nil }
    precondition(!stored.json.text.isEmpty && !stored.classification.summary.isEmpty)
  } catch {
    requireLine(error)
  }
  return 0
}

private func table(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  do {
    _ = try CSVTable(Array(UnsafeBufferPointer(start: bytes, count: count)), path: "table.csv")
  } catch {
    requireLine(error)
  }
  return 0
}

/// Words are separated by line breaks; the first is the command.
private func arguments(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let words = UnsafeBufferPointer(start: bytes, count: count).split(
    separator: 0x0A, omittingEmptySubsequences: false
  )
  .compactMap { String(validating: $0, as: UTF8.self) }
  guard let first = words.first, let command = Tool.dermafusion.commands.first(where: { $0.name == first })
  else { return 0 }
  do {
    _ = try ParsedArguments.parse(
      Array(words.dropFirst()), positionals: command.positionals, options: command.options)
  } catch {
    requireLine(error)
  }
  return 0
}

private let targets: [String: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32] = [
  "png": decode, "jpeg": decode, "pnm": decode, "bmp": decode, "dicom": decode, "webp": header,
  "tiff": header, "heif": header, "safetensors": safetensors, "config": configuration,
  "result": result, "csv": table,
  "arguments": arguments,
]

guard let name = getenv("FUZZ_TARGET").map({ String(cString: $0) }), let target = targets[name] else {
  fatalError("FUZZ_TARGET must be one of \(targets.keys.sorted().joined(separator: ", "))")
}
var count = CommandLine.argc
var words = CommandLine.unsafeArgv
exit(runFuzzer(&count, &words, target))
