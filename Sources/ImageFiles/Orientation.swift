import ImagePipeline

/// How the stored pixels lie; the raw values are those of the Exif tag Orientation (274).
enum Orientation: Int {
  case upright = 1
  case mirroredHorizontally
  case rotatedHalfTurn
  case mirroredVertically
  case transposed
  case rotatedQuarterTurnClockwise
  case transverse
  case rotatedQuarterTurnCounterclockwise

  /// Takes the orientation from Exif and, where Exif has none, from XMP, as Pillow's `getexif` does.
  ///
  /// Values outside 1...8 and unreadable metadata leave the image as it is.
  init(exif: [UInt8]?, xmp: [UInt8]?) {
    var value: Int?
    if let exif {
      let withoutMarker = Self.withoutMarkers(exif)
      if !withoutMarker.isEmpty {
        guard let directory = ExifDirectory(withoutMarker) else {
          self = .upright
          return
        }
        value = directory.firstInteger(ofTag: 274)
      }
    }
    if value == nil, let xmp { value = Self.value(inXMP: xmp) }
    self = value.flatMap(Orientation.init(rawValue:)) ?? .upright
  }

  /// Pillow skips the marker once or twice.
  private static func withoutMarkers(_ exif: [UInt8]) -> ArraySlice<UInt8> {
    let marker = Array("Exif\0\0".utf8)
    var rest = exif[...]
    for _ in 0..<2 where rest.starts(with: marker) { rest = rest.dropFirst(marker.count) }
    return rest
  }

  /// Finds `tiff:Orientation="N"` or `tiff:Orientation>N`, as the regular expression in Pillow does.
  private static func value(inXMP xmp: [UInt8]) -> Int? {
    let name = Array("tiff:Orientation".utf8)
    var rest = xmp[...]
    while let start = rest.firstIndex(of: name[0]) {
      rest = rest[start...]
      if rest.starts(with: name) {
        var tail = rest.dropFirst(name.count)
        let isAttribute = tail.starts(with: Array("=\"".utf8))
        if isAttribute || tail.first == UInt8(ascii: ">") {
          tail = tail.dropFirst(isAttribute ? 2 : 1)
          if let digit = tail.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
            return Int(digit - UInt8(ascii: "0"))
          }
        }
      }
      rest = rest.dropFirst()
    }
    return nil
  }
}

extension Orientation {
  /// Whether the stored columns run from right to left, the stored rows from bottom to top, and both change places.
  var placement: SquareResizer.Placement {
    let (mirrorsColumns, mirrorsRows) =
      switch self {
      case .upright, .transposed: (false, false)
      case .mirroredHorizontally, .rotatedQuarterTurnCounterclockwise: (true, false)
      case .mirroredVertically, .rotatedQuarterTurnClockwise: (false, true)
      case .rotatedHalfTurn, .transverse: (true, true)
      }
    return SquareResizer.Placement(
      mirrorsColumns: mirrorsColumns, mirrorsRows: mirrorsRows,
      transposes: rawValue >= Orientation.transposed.rawValue)
  }

  /// Turns the stored pixels upright.
  func applied(to image: PixelImage) -> PixelImage {
    guard self != .upright else { return image }
    let (width, height) = (image.width, image.height)
    // Where the first pixel of the result lies in the stored image, and how far a step in the result leads there.
    let first =
      (placement.mirrorsRows ? height - 1 : 0) * width + (placement.mirrorsColumns ? width - 1 : 0)
    let (column, row) = (placement.mirrorsColumns ? -1 : 1, placement.mirrorsRows ? -width : width)
    return placement.transposes
      ? image.rearranged(width: height, height: width, first: first, rowStep: column, columnStep: row)
      : image.rearranged(width: width, height: height, first: first, rowStep: row, columnStep: column)
  }
}
