import Files
import SystemModule

/// The frames of a DICOM file, counted without reading its pixels.
package enum ImageFrames {
  /// A film has more; a person names the frames that are wanted of it.
  package static let limit = 4096

  /// The number of frames that a file states; 1 for every other file, and for what is not read here. A file whose ending is another
  /// format's is not looked at.
  package static func count(ofFile path: String) -> Int {
    let ending = ImageEndings.ending(of: path)
    guard ending == nil || ImageFormat.dicom.endings.contains(ending ?? "") else { return 1 }
    // Most headings are short; one may hold a small picture of its own.
    let found = path.withCString { path in
      FileBytes.look(into: path) { start, read -> Int? in
        guard DICOMFile.isRecognized(start) else { return 1 }
        for size in [1 << 16, 1 << 20, 1 << 24] {
          guard let head = read(0, size) else { return nil }
          if let count = head.withUnsafeBytes({ count(inHead: $0) }) { return count }
        }
        return nil
      }
    }
    if let count = found.flatMap(\.self) { return count }
    let bytes = try? FileBytes.read(path: path, limit: ImageDecoder.fileByteLimit)
    return bytes?.withUnsafeBytes { count(inHead: $0) } ?? 1
  }

  /// Nil where the bytes end before it is known.
  private static func count(inHead bytes: UnsafeRawBufferPointer) -> Int? {
    let elements = DICOMElements(reader: ByteReader(bytes), deadline: DecodingLimits.standard.deadline())
    do throws(DermaFusionError) {
      let heading = try DICOMHeading(elements)
      guard let isImplicit = try? heading.transferSyntax().isImplicit else { return 1 }
      var (frames, start) = (1, heading.dataStart)
      start = min(start, bytes.count)
      try elements.forEach(
        in: start..<bytes.count, isImplicit: isImplicit || !elements.hasType(at: start)
      ) { element throws(DermaFusionError) in
        if element.tag == 0x0028_0008 { frames = DICOMFile.frameCount(element.text(in: bytes)) }
        return element.tag < 0x0028_0008
      }
      return frames
    } catch {
      return nil
    }
  }
}
