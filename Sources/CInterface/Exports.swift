// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CDermaFusion
import DermaFusion
import Files
import ImageCodecs
import ImagePipeline
import SystemModule

// The functions of dermafusion.h, which documents them: callers see the header, never this file.

@c(dermafusion_abi_version)
public func abiVersion() -> UInt32 { UInt32(DERMAFUSION_ABI_VERSION) }

/// Lives as long as the library.
nonisolated(unsafe) private let versionText = UnsafePointer(CText.copy(DermaFusionVersion.current))

@c(dermafusion_version)
public func version() -> UnsafePointer<CChar> { versionText }

@c(dermafusion_open)
public func openFolder(
  _ folder: UnsafePointer<CChar>?, _ threadCount: Int32,
  _ classifier: UnsafeMutablePointer<dermafusion_classifier>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  open(classifier, threadCount, error) { (threadCount) throws(DermaFusionError) in
    guard let folder = try CText.read(folder, "folder") else { throw .null("folder") }
    return try OpenClassifier(threadCount: threadCount) { (threadCount) throws(DermaFusionError) in
      try Classifier(modelDirectory: folder, threadCount: threadCount)
    }
  }
}

@c(dermafusion_open_memory)
public func openMemory(
  _ configuration: UnsafeRawPointer?, _ configurationSize: Int, _ weights: UnsafeRawPointer?,
  _ weightsSize: Int, _ threadCount: Int32, _ classifier: UnsafeMutablePointer<dermafusion_classifier>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  open(classifier, threadCount, error) { (threadCount) throws(DermaFusionError) in
    let files = (
      try bytes(configuration, configurationSize, "configuration", limit: ConfigurationFile.byteLimit),
      try bytes(weights, weightsSize, "weights", limit: SafetensorsFile.byteLimit)
    )
    return try OpenClassifier(threadCount: threadCount) { (threadCount) throws(DermaFusionError) in
      try Classifier(configuration: files.0, weights: files.1, threadCount: threadCount)
    }
  }
}

private func open(
  _ target: UnsafeMutablePointer<dermafusion_classifier>?, _ threadCount: Int32,
  _ error: UnsafeMutablePointer<dermafusion_error>?,
  _ load: (_ threadCount: Int32) throws(DermaFusionError) -> OpenClassifier
) -> dermafusion_status {
  target?.pointee = 0
  return status(error) { () throws(DermaFusionError) in
    guard let target else { throw .null("classifier") }
    let language = OpenClassifier.firstLanguage.withLock { $0 }
    target.pointee = try language.wording { () throws(DermaFusionError) in
      Handles.add(.classifier(try load(threadCount)))
    }
  }
}

@c(dermafusion_classifier_close)
public func closeClassifier(
  classifier: dermafusion_classifier, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  status(error) { () throws(DermaFusionError) in try Handles.close(classifier: classifier) }
}

@c(dermafusion_set_language)
public func setLanguage(
  _ classifier: dermafusion_classifier, _ language: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  status(error) { () throws(DermaFusionError) in
    let open = try Handles.classifier(classifier)
    let chosen = try named(language)
    open.language.withLock { $0 = chosen }
  }
}

@c(dermafusion_set_default_language)
public func setDefaultLanguage(
  _ language: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  status(error) { () throws(DermaFusionError) in
    let chosen = try named(language)
    OpenClassifier.firstLanguage.withLock { $0 = chosen }
  }
}

private func named(_ language: UnsafePointer<CChar>?) throws(DermaFusionError) -> Language {
  guard let name = try CText.read(language, "language") else { throw .null("language") }
  return try ImageRequest.language(named: name)
}

@c(dermafusion_class_id)
public func classIdentifier(_ classifier: dermafusion_classifier, _ index: UInt32) -> UnsafePointer<CChar>? {
  try? Handles.classifier(classifier).classID(index)
}

@c(dermafusion_describe)
public func describeClassifier(
  _ classifier: dermafusion_classifier, _ result: UnsafeMutablePointer<dermafusion_result>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    let description = try Handles.classifier(classifier).classifier.description(
      for: .program, formats: ImageDecoder.formats, endings: ImageDecoder.readableEndings)
    return CResult(nil, json: description.text)
  }
}

@c(dermafusion_read_table)
public func readTable(
  _ table: UnsafeRawPointer?, _ size: Int, _ request: UnsafePointer<CChar>?,
  _ result: UnsafeMutablePointer<dermafusion_result>?, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    guard let request = try CText.read(request, "request", limit: MetadataTable.byteLimit) else {
      throw .null("request")
    }
    let answer = try MetadataTable.answer(
      bytes(table, size, "table", limit: MetadataTable.byteLimit), to: Array(request.utf8),
      in: FileBytes.currentFolder)
    return CResult(nil, json: answer.text)
  }
}

@c(dermafusion_image_id)
public func imageIdentifier(
  _ path: UnsafePointer<CChar>?, _ result: UnsafeMutablePointer<dermafusion_result>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    guard let path = try CText.read(path, "path") else { throw .null("path") }
    return CResult(nil, json: JSONValue.string(path.imageIdentifier ?? path).text)
  }
}

@c(dermafusion_list_images)
public func listImages(
  _ folder: UnsafePointer<CChar>?, _ result: UnsafeMutablePointer<dermafusion_result>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    guard let folder = try CText.read(folder, "folder") else { throw .null("folder") }
    let images = try FolderImages(folder)
    let leftOut =
      (images.leftOut.words.map { ["\(folder): left out: \($0)"] } ?? [])
      + (images.leftOut.copyWords.map { ["\(folder): \($0)"] } ?? [])
    return CResult(
      nil,
      json: JSONValue.object([
        "images": .strings(images.paths),
        "notes": .strings(images.failures.map { $0.message } + leftOut),
      ]).text)
  }
}

@c(dermafusion_request_init)
public func initializeRequest(_ request: UnsafeMutablePointer<dermafusion_request>?) {
  guard let request else { return }
  var empty = dermafusion_request()
  empty.size = UInt32(ImageCall.firstRequestSize)
  empty.age = .nan
  // A program with an older header has room for no more.
  withUnsafeBytes(of: empty) {
    UnsafeMutableRawPointer(request).copyMemory(from: $0.baseAddress!, byteCount: ImageCall.firstRequestSize)
  }
}

@c(dermafusion_classify_bytes)
public func classifyBytes(
  _ classifier: dermafusion_classifier, bytes start: UnsafeRawPointer?, _ size: Int,
  _ request: UnsafePointer<dermafusion_request>?, _ result: UnsafeMutablePointer<dermafusion_result>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    try ImageCall(classifier, request, explains: false).answer(
      file: bytes(start, size, "bytes", limit: ImageDecoder.fileByteLimit))
  }
}

@c(dermafusion_classify_file)
public func classifyFile(
  _ classifier: dermafusion_classifier, descriptor: Int32, _ request: UnsafePointer<dermafusion_request>?,
  _ result: UnsafeMutablePointer<dermafusion_result>?, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    try ImageCall(classifier, request, explains: false).answer(file: file(descriptor))
  }
}

@c(dermafusion_classify_pixels)
public func classifyPixels(
  _ classifier: dermafusion_classifier, pixels: UnsafePointer<UInt8>?, _ width: Int, _ height: Int,
  _ bytesPerRow: Int, _ layout: Int32, _ request: UnsafePointer<dermafusion_request>?,
  _ result: UnsafeMutablePointer<dermafusion_result>?, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    try ImageCall(classifier, request, explains: false).answer(
      image(pixels, width, height, bytesPerRow, layout))
  }
}

@c(dermafusion_explain_bytes)
public func explainBytes(
  _ classifier: dermafusion_classifier, bytes start: UnsafeRawPointer?, _ size: Int,
  _ request: UnsafePointer<dermafusion_request>?, _ result: UnsafeMutablePointer<dermafusion_result>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    try ImageCall(classifier, request, explains: true).answer(
      file: bytes(start, size, "bytes", limit: ImageDecoder.fileByteLimit))
  }
}

@c(dermafusion_explain_file)
public func explainFile(
  _ classifier: dermafusion_classifier, descriptor: Int32, _ request: UnsafePointer<dermafusion_request>?,
  _ result: UnsafeMutablePointer<dermafusion_result>?, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    try ImageCall(classifier, request, explains: true).answer(file: file(descriptor))
  }
}

@c(dermafusion_explain_pixels)
public func explainPixels(
  _ classifier: dermafusion_classifier, pixels: UnsafePointer<UInt8>?, _ width: Int, _ height: Int,
  _ bytesPerRow: Int, _ layout: Int32, _ request: UnsafePointer<dermafusion_request>?,
  _ result: UnsafeMutablePointer<dermafusion_result>?, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  make(result, error) { () throws(DermaFusionError) in
    try ImageCall(classifier, request, explains: true).answer(
      image(pixels, width, height, bytesPerRow, layout))
  }
}

private func make(
  _ target: UnsafeMutablePointer<dermafusion_result>?, _ error: UnsafeMutablePointer<dermafusion_error>?,
  _ body: () throws(DermaFusionError) -> CResult
) -> dermafusion_status {
  target?.pointee = 0
  return status(error) { () throws(DermaFusionError) in
    guard let target else { throw .null("result") }
    target.pointee = Handles.add(.result(try body()))
  }
}

@c(dermafusion_result_view)
public func viewResult(
  _ result: dermafusion_result, _ view: UnsafeMutablePointer<dermafusion_view>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  status(error) { () throws(DermaFusionError) in
    guard let view else { throw .null("view") }
    let size = view.pointee.size
    try fill(
      view, size: size, atLeast: CResult.firstViewSize, "view", with: Handles.result(result).view)
  }
}

@c(dermafusion_result_map)
public func mapOfResult(
  _ result: dermafusion_result, _ index: UInt32, _ map: UnsafeMutablePointer<dermafusion_map>?,
  _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  status(error) { () throws(DermaFusionError) in
    guard let map else { throw .null("map") }
    let size = map.pointee.size
    try fill(
      map, size: size, atLeast: CResult.firstMapSize, "map", with: Handles.result(result).map(index))
  }
}

@c(dermafusion_result_picture)
public func pictureOfResult(
  _ result: dermafusion_result, _ bytes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  _ size: UnsafeMutablePointer<UInt64>?, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  bytes?.pointee = nil
  size?.pointee = 0
  return status(error) { () throws(DermaFusionError) in
    guard let bytes else { throw .null("bytes") }
    guard let size else { throw .null("size") }
    let drawn = try Handles.result(result).drawn()
    bytes.pointee = UnsafePointer(drawn.baseAddress)
    size.pointee = UInt64(drawn.count)
  }
}

@c(dermafusion_result_close)
public func closeResult(
  result: dermafusion_result, _ error: UnsafeMutablePointer<dermafusion_error>?
) -> dermafusion_status {
  status(error) { () throws(DermaFusionError) in try Handles.close(result: result) }
}

/// A copy of what a C program hands over.
///
/// - Parameter limit: the most bytes that are copied.
private func bytes(
  _ start: UnsafeRawPointer?, _ size: Int, _ name: String, limit: Int
) throws(DermaFusionError) -> [UInt8] {
  // A size_t beyond the greatest Int is negative here.
  guard (0...limit).contains(size) else {
    throw .argument(
      "\(name) has a size of \(UInt(bitPattern: size)) bytes, beyond the limit of \(limit >> 20) MB",
      remedy: "Give the number of bytes.")
  }
  guard let start else { throw .null(name) }
  guard MemoryProbe.canAllocate(byteCount: size) else {
    throw .argument("there is no memory for the \(size) bytes of \(name)", remedy: "Give fewer bytes.")
  }
  return [UInt8](UnsafeRawBufferPointer(start: start, count: size))
}

/// The rest of an open file.
private func file(_ descriptor: Int32) throws(DermaFusionError) -> [UInt8] {
  let name = "file"
  do throws(DermaFusionError) {
    return try FileBytes.read(
      descriptor: descriptor, name: name, limit: ImageDecoder.fileByteLimit,
      refusal: ImageDecoder.refusal(ofStart:))
  } catch {
    // Callers know the file's name, and messages about images do not tell it either.
    throw DermaFusionError(
      .invalidImage, message: Sentence(String(error.description.dropFirst("\(name): ".count))),
      remedy: "Use a whole image file of at least 32x32 pixels.")
  }
}

private func image(
  _ pixels: UnsafePointer<UInt8>?, _ width: Int, _ height: Int, _ bytesPerRow: Int, _ layout: Int32
) throws(DermaFusionError) -> PixelImage {
  guard let pixels else { throw .null("pixels") }
  let layouts: [PixelImage.Layout] = [.rgb, .rgba, .bgra]
  guard layouts.indices.contains(Int(layout)) else {
    throw .argument(
      "layout is \(layout), not 0 (RGB), 1 (RGBA) or 2 (BGRA)",
      remedy: "Give DERMAFUSION_RGB, DERMAFUSION_RGBA or DERMAFUSION_BGRA.")
  }
  let layout = layouts[Int(layout)]
  let (rowBytes, rowOverflows) = width.multipliedReportingOverflow(by: layout.bytesPerPixel)
  // A size_t beyond the greatest Int is negative here, and one less than the least Int would end the caller's process.
  let (skipped, overflows) = (height &- 1).multipliedReportingOverflow(by: bytesPerRow)
  let (count, sumOverflows) = skipped.addingReportingOverflow(rowBytes)
  guard width > 0, height > 0, !rowOverflows, !overflows, !sumOverflows, bytesPerRow >= rowBytes else {
    throw .argument(
      "\(UInt(bitPattern: width))x\(UInt(bitPattern: height)) pixels in rows of \(UInt(bitPattern: bytesPerRow)) bytes",
      remedy: "Give at least one pixel, and in bytes_per_row at least the bytes of a row.")
  }
  // Before there is a buffer of so many bytes.
  try PixelLimit.check(width: width, height: height)
  return try PixelImage(
    copying: UnsafeRawBufferPointer(start: pixels, count: count), width: width, height: height,
    bytesPerRow: bytesPerRow, layout: layout)
}
