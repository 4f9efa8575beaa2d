import Files
import ImagePipeline

/// Facts of a file beside its pixels that a reader of the result must know.
struct FileFacts: Equatable {
  /// Pictures in the file; of many, those that were counted.
  var pictureCount = 1
  /// True if there may be more of them.
  var isCutOff = false
  var profile: String?

  var details: [ClassificationWarning: String] {
    var details: [ClassificationWarning: String] = [:]
    if pictureCount > 1 { details[.severalPictures] = "\(pictureCount)\(isCutOff ? "+" : "")" }
    details[.colorProfile] = profile
    return details
  }
}

/// The colour space that a file names for its values. The values are taken as they are stored, as Pillow does, so a reader must
/// know where they do not mean the colours of sRGB, in which nearly all training images are.
enum ColorProfile {
  /// The name of an ICC profile of other primaries than sRGB's, or of another kind of colours; nil for sRGB, for grey, and for
  /// what cannot be read.
  ///
  /// - Parameter fallback: its name where the profile itself has none.
  static func foreignName(
    icc bytes: UnsafeRawBufferPointer, fallback: String = "without a name"
  ) -> String? {
    let profile = ICCProfile(bytes)
    guard profile.reader.holds("acsp", at: 36), !profile.reader.holds("GRAY", at: 16) else { return nil }
    let name = profile.name
    let isNamedSRGB = name?.lowercased().contains("srgb") ?? false
    if profile.reader.holds("RGB ", at: 16) {
      guard let colorants = profile.colorants else {
        // Its colours stand in tables.
        return isNamedSRGB ? nil : name ?? fallback
      }
      let primaries = Primaries(colorants: colorants)
      // Some vendors' sRGB is adapted to D50 in another way.
      if primaries.distance(to: .sRGB) <= (isNamedSRGB ? 0.03 : tolerance) { return nil }
      return name ?? primaries.name ?? fallback
    }
    return name ?? fallback
  }

  /// The name of primaries of ITU-T H.273 that are not sRGB's; nil for sRGB's, those of standard television, which are all but
  /// the same, and for numbers without a meaning.
  static func foreignName(codePoint: Int) -> String? {
    switch codePoint {
    case 4: "BT.470 System M"
    case 8: "generic film"
    case 9: "BT.2020"
    case 10: "CIE XYZ"
    case 11: "DCI-P3"
    case 12: "Display P3"
    default: nil
    }
  }

  /// The name of primaries that a PNG states: the chromaticities x and y of white, red, green and blue.
  static func foreignName(chromaticities values: [Double]) -> String? {
    guard values.count == 8, let primaries = Primaries(chromaticities: values),
      primaries.distance(to: .sRGB) > tolerance
    else { return nil }
    return primaries.name ?? "of its own (cHRM)"
  }

  /// In chromaticity, by which vendors' profiles of the same primaries differ through rounding. Display P3's red is 0.034 away.
  private static let tolerance = 0.012
}

/// The chromaticities of red, green and blue, adapted to the white D50 as in ICC profiles.
private struct Primaries {
  /// x and y of red, green and blue.
  private let values: [Double]

  static let sRGB = Primaries(d65: [0.64, 0.33, 0.30, 0.60, 0.15, 0.06])

  /// Those that cameras, phones and editors write, by their names.
  private static let known: [(name: String, primaries: Primaries)] = [
    ("Display P3", Primaries(d65: [0.68, 0.32, 0.265, 0.69, 0.15, 0.06])),
    ("Adobe RGB (1998)", Primaries(d65: [0.64, 0.33, 0.21, 0.71, 0.15, 0.06])),
    ("BT.2020", Primaries(d65: [0.708, 0.292, 0.170, 0.797, 0.131, 0.046])),
  ]

  var name: String? { Self.known.first { distance(to: $0.primaries) <= 0.005 }?.name }

  private init(d65 values: [Double]) {
    self = Primaries(chromaticities: [0.3127, 0.3290] + values) ?? Primaries(values: values)
  }

  private init(values: [Double]) { self.values = values }

  /// - Parameter colorants: X, Y and Z of red, green and blue. Their sum is the white: that of a profile that was not adapted
  ///   is not D50.
  init(colorants: [[Double]]) {
    let white = (0..<3).map { axis in colorants.reduce(0) { $0 + $1[axis] } }
    values = colorants.flatMap { colorant in
      let adapted = Self.adapted(colorant, from: white)
      let sum = adapted.reduce(0, +)
      return [adapted[0] / sum, adapted[1] / sum]
    }
  }

  /// - Parameter values: x and y of white, red, green and blue; nil where they are no triangle around a white.
  init?(chromaticities values: [Double]) {
    let points = stride(from: 0, to: 8, by: 2).map { (x: values[$0], y: values[$0 + 1]) }
    guard points.allSatisfy({ $0.y > 0 }) else { return nil }
    let columns = points.map { [$0.x / $0.y, 1, (1 - $0.x - $0.y) / $0.y] }
    let (white, red, green, blue) = (columns[0], columns[1], columns[2], columns[3])
    func determinant(_ a: [Double], _ b: [Double], _ c: [Double]) -> Double {
      a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1])
        + c[0] * (a[1] * b[2] - a[2] * b[1])
    }
    // Cramer's rule: how much of each primary makes the white.
    let whole = determinant(red, green, blue)
    let shares = [
      determinant(white, green, blue), determinant(red, white, blue), determinant(red, green, white),
    ].map { $0 / whole }
    guard shares.allSatisfy({ $0 > 0 && $0.isFinite }) else { return nil }
    self.init(
      colorants: zip([red, green, blue], shares).map { column, share in column.map { $0 * share } })
  }

  func distance(to other: Primaries) -> Double {
    let differences = zip(values, other.values).map { abs($0 - $1) }
    // NaN is far from everything.
    return differences.allSatisfy { $0.isFinite } ? differences.max() ?? 0 : .infinity
  }

  /// Bradford's adaptation of a colour from a white to D50.
  private static func adapted(_ color: [Double], from white: [Double]) -> [Double] {
    func product(_ matrix: [[Double]], _ vector: [Double]) -> [Double] {
      matrix.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } }
    }
    let (from, to) = (product(bradford, white), product(bradford, d50))
    let cones = product(bradford, color)
    return product(inverseBradford, (0..<3).map { cones[$0] * to[$0] / from[$0] })
  }

  private static let d50 = [0.9642, 1, 0.8249]
  private static let bradford = [
    [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
  ]
  private static let inverseBradford = [
    [0.9869929, -0.1470543, 0.1599627], [0.4323053, 0.5183603, 0.0492912],
    [-0.0085287, 0.0400428, 0.9684867],
  ]
}

/// The tags of an ICC profile (ICC.1, versions 2 and 4) that tell its name and its primaries.
private struct ICCProfile {
  let reader: ByteReader

  init(_ bytes: UnsafeRawBufferPointer) { reader = ByteReader(bytes, isBigEndian: true) }

  private func tag(_ name: StaticString) -> Int? {
    // A profile has some 20 tags.
    let count = min(reader.integer32(at: 128) ?? 0, 256)
    for entry in stride(from: 132, to: 132 + count * 12, by: 12) where reader.holds(name, at: entry) {
      return reader.integer32(at: entry + 4)
    }
    return nil
  }

  /// X, Y and Z of red, green and blue; nil where a profile has tables instead.
  var colorants: [[Double]]? {
    let places = [tag("rXYZ"), tag("gXYZ"), tag("bXYZ")].compactMap(\.self)
    guard places.count == 3 else { return nil }
    let colorants = places.map { place in
      (0..<3).compactMap { axis in
        reader.integer32(at: place + 8 + axis * 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
      }
    }
    return colorants.allSatisfy({ $0.count == 3 }) ? colorants : nil
  }

  var name: String? {
    guard let place = tag("desc") else { return nil }
    var text = ""
    if reader.holds("desc", at: place), let count = reader.integer32(at: place + 8) {
      let bytes = reader.bytes(at: place + 12, count: min(count, Self.nameLimit)).map(Array.init) ?? []
      text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    } else if reader.holds("mluc", at: place) {
      // A record for each language.
      let records = (0..<min(reader.integer32(at: place + 8) ?? 0, 64)).map { place + 16 + $0 * 12 }
      let chosen = records.first { reader.holds("en", at: $0) } ?? records.first
      if let chosen, let count = reader.integer32(at: chosen + 4),
        let offset = reader.integer32(at: chosen + 8)
      {
        let units = stride(from: 0, to: min(count, 2 * Self.nameLimit) - 1, by: 2).compactMap {
          reader.integer16(at: place + offset + $0).map { UInt16($0) }
        }
        text = String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
      }
    }
    let name = text.onOneLine.trimmed
    return name.isEmpty ? nil : name
  }

  private static let nameLimit = 80
}
