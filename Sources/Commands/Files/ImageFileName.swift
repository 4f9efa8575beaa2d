/// How the names of image files end.
package enum ImageFileName {
  /// Files in a folder are images when their name ends so, in any letter case.
  package static let endings = [".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".ppm", ".pgm", ".pbm", ".pnm"]

  /// For whoever looks for an image by its whole file name.
  static let endingHint = "; an image_id is the file name without its ending"

  /// - Parameter name: of a file in a folder, which may be no text.
  static func isImage(_ name: [UInt8]) -> Bool {
    let lowercase = name.suffix(8).map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    return endings.contains { ending in
      name.count > ending.utf8.count && lowercase.suffix(ending.utf8.count).elementsEqual(ending.utf8)
    }
  }
}
