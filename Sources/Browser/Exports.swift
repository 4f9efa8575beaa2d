import DermaFusion
import Files
import ImagePipeline

// The functions that a page calls, and `Scripts/checks/platforms` on each machine. Pointers and counts are into the module's
// own memory, counts are in bytes. A call that gives 0 leaves its error as the text. Everything runs on the calling thread.

/// Memory for what the page hands over, 16-byte aligned; nil when there is none left.
@_expose(wasm, "allocate") @c(dermafusion_page_allocate)
public func allocateMemory(_ byteCount: Int32) -> UnsafeMutableRawPointer? {
  guard byteCount >= 0 else { return nil }
  return .allocate(byteCount: max(Int(byteCount), 1), alignment: 16)
}

/// Gives back what ``allocateMemory(_:)`` gave.
@_expose(wasm, "free") @c(dermafusion_page_free)
public func freeMemory(_ pointer: UnsafeMutableRawPointer?) { pointer?.deallocate() }

/// Loads a model from the bytes of `config.json` and `model.safetensors`, which are copied.
///
/// - Returns: its handle, above 0.
@_expose(wasm, "load") @c(dermafusion_page_load)
public func loadModel(
  _ configuration: UnsafeRawPointer?, _ configurationCount: Int32, _ weights: UnsafeRawPointer?,
  _ weightsCount: Int32
) -> Int32 {
  answer(
    try BrowserSession.only.load(
      configuration: Array(bytes(configuration, configurationCount)),
      weights: Array(bytes(weights, weightsCount))))
}

/// Takes a model's SHA-256, 64 hexadecimal digits in lowercase, of its `config.json` followed by its `model.safetensors`: a
/// browser hashes faster than the module, which computes it itself where nobody does.
@_expose(wasm, "identify") @c(dermafusion_page_identify)
public func identifyModel(_ model: Int32, _ sha256: UnsafeRawPointer?, _ count: Int32) -> Int32 {
  answer(try BrowserSession.only.identify(model, bytes(sha256, count)))
}

/// Forgets a model.
@_expose(wasm, "unload") @c(dermafusion_page_unload)
public func unloadModel(_ model: Int32) { BrowserSession.only.unload(model) }

/// Tells the model's name, classes, layers and what else a page shows.
@_expose(wasm, "describe") @c(dermafusion_page_describe)
public func describeModel(_ model: Int32) -> Int32 {
  answer(try BrowserSession.only.describe(model))
}

/// Classifies an image: red, green, blue and a byte that is not looked at for each pixel, rows from the top.
@_expose(wasm, "classify") @c(dermafusion_page_classify)
public func classifyPixels(
  _ model: Int32, _ pixels: UnsafeRawPointer?, _ width: Int32, _ height: Int32,
  _ request: UnsafeRawPointer?, _ requestCount: Int32
) -> Int32 {
  answer(
    try BrowserSession.only.classify(
      model, image(pixels, width, height), ImageRequest(json: Array(bytes(request, requestCount)))))
}

/// Classifies an image and makes activation maps of it.
///
/// - Returns: how many.
@_expose(wasm, "explain") @c(dermafusion_page_explain)
public func explainPixels(
  _ model: Int32, _ pixels: UnsafeRawPointer?, _ width: Int32, _ height: Int32,
  _ request: UnsafeRawPointer?, _ requestCount: Int32
) -> Int32 {
  answer(
    try BrowserSession.only.explain(
      model, image(pixels, width, height), ImageRequest(json: Array(bytes(request, requestCount)))))
}

/// Judges a camera's frame. The text has the `advice`, a ``FrameAdvice`` or null, and `isUnfamiliar`, which is to be handed
/// over with the frames that follow.
///
/// - Parameter unfamiliar: the network's judgement of an earlier frame, 0 or 1; -1: the network judges this one, which takes long.
@_expose(wasm, "judge") @c(dermafusion_page_judge)
public func judgeFrame(
  _ model: Int32, _ pixels: UnsafeRawPointer?, _ width: Int32, _ height: Int32, _ unfamiliar: Int32
) -> Int32 {
  answer(
    try BrowserSession.only.judge(
      model, image(pixels, width, height), wasUnfamiliar: unfamiliar < 0 ? nil : unfamiliar > 0))
}

/// A map of the last explanation: Float32 `[input size, input size]`, 0...1, over the centre square of the image; valid until
/// the next call. Its pixels lie at the centres of their receptive fields, as in pictures, or stretched over the square, as
/// `gradcam --raw` writes them.
@_expose(wasm, "mapPointer") @c(dermafusion_page_map_pointer)
public func mapValuesPointer(_ index: Int32, _ isStretched: Int32) -> UnsafeMutableRawPointer? {
  BrowserSession.only.mapValues(index, isStretched: isStretched != 0)
}

/// A stage of the preprocessing: uint8 `[S, S, 3]`, or for `normalized` Float32 `[3, S, S]`; the text has the shape. Valid
/// until the next call.
@_expose(wasm, "preprocess") @c(dermafusion_page_preprocess)
public func preprocessPixels(
  _ model: Int32, _ pixels: UnsafeRawPointer?, _ width: Int32, _ height: Int32,
  _ request: UnsafeRawPointer?, _ requestCount: Int32
) -> UnsafeMutableRawPointer? {
  BrowserSession.only.answer(orElse: nil) { () throws(DermaFusionError) in
    try BrowserSession.only.preprocess(
      model, image(pixels, width, height), ImageRequest(json: Array(bytes(request, requestCount))))
  }
}

/// Reads a table of what is known of patients, as `classify --metadata` does. The request is a JSON object with the table's
/// `name` and the names of the page's `images`. The text has `images` in the same order, each with `age`, `sex` and `site`,
/// `{"error":...}` for a row that cannot be understood, or null without a row; the fields that the table has no column for as
/// `missing`; its columns that are not read as `unused`; and `notes`. No model is needed.
@_expose(wasm, "readTable") @c(dermafusion_page_read_table)
public func readPatientTable(
  _ table: UnsafeRawPointer?, _ tableCount: Int32, _ request: UnsafeRawPointer?, _ requestCount: Int32
) -> Int32 {
  answer(
    (
      try MetadataTable.answer(
        Array(bytes(table, tableCount)), to: Array(bytes(request, requestCount)), languages: Language.allCases
      ),
      1
    ))
}

/// Checks a result that comes from a file. The text that is given is a JSON object with the `result`, as `classify` tells it,
/// and the `classes` of its model, as ``describeModel(_:)`` tells them. The text that comes back has the members that follow
/// from the others, as this version writes them, and `summaries` in each language; a result that contradicts itself or breaks a rule is an error.
@_expose(wasm, "checkResult") @c(dermafusion_page_check_result)
public func checkStoredResult(_ model: Int32, _ result: UnsafeRawPointer?, _ count: Int32) -> Int32 {
  answer(try BrowserSession.only.checkResult(model, Array(bytes(result, count))))
}

/// Leaves the SHA-256 of some bytes as the text, in lowercase hexadecimal.
@_expose(wasm, "digest") @c(dermafusion_page_digest)
public func digestBytes(_ start: UnsafeRawPointer?, _ count: Int32) -> Int32 {
  var hash = SHA256()
  hash.update(bytes(start, count))
  BrowserSession.only.tell(hash.finalizedHexDigest())
  return 1
}

/// The last result or error in UTF-8, valid until the next call.
@_expose(wasm, "text") @c(dermafusion_page_text)
public func textPointer() -> UnsafeMutablePointer<UInt8>? { BrowserSession.only.text.baseAddress }

/// The length of the text at ``textPointer()``.
@_expose(wasm, "textCount") @c(dermafusion_page_text_count)
public func textByteCount() -> Int32 { Int32(BrowserSession.only.text.count) }

/// Answers a call; 0 where it fails.
private func answer(_ body: @autoclosure () throws(DermaFusionError) -> (JSONValue, Int32)) -> Int32 {
  BrowserSession.only.answer(orElse: 0, body)
}

private func bytes(_ start: UnsafeRawPointer?, _ count: Int32) -> UnsafeRawBufferPointer {
  UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : max(Int(count), 0))
}

private func image(
  _ pixels: UnsafeRawPointer?, _ width: Int32, _ height: Int32
) throws(DermaFusionError) -> PixelImage {
  let (rowBytes, overflows) = Int(max(width, 0)).multipliedReportingOverflow(by: 4)
  let (count, countOverflows) = rowBytes.multipliedReportingOverflow(by: Int(max(height, 0)))
  let isThere = pixels != nil && !overflows && !countOverflows
  return try PixelImage(
    copying: UnsafeRawBufferPointer(start: pixels, count: isThere ? count : 0), width: Int(width),
    height: Int(height), bytesPerRow: overflows ? 0 : rowBytes, layout: .rgba)
}
