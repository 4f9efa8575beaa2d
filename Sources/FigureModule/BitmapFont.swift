/// A typeface of 5x7 pixels for captions, drawn for this project: text without a dependency on fonts.
enum BitmapFont {
  /// Pixels in a glyph, the two rows below the base line included.
  static let (glyphWidth, glyphHeight) = (5, 9)
  /// Pixels from one glyph to the next, and from one line to the next.
  static let (advance, lineHeight) = (6, 11)

  /// Whether the glyph of a character has ink at a pixel. Characters outside of printable ASCII are drawn as `?`.
  static func hasInk(_ character: UInt8, x: Int, y: Int) -> Bool {
    let index = Int(character) - 32
    let glyph = glyphs.indices.contains(index) ? glyphs[index] : glyphs[Int(UInt8(ascii: "?")) - 32]
    return glyph >> UInt64((glyphHeight - 1 - y) * glyphWidth + (glyphWidth - 1 - x)) & 1 == 1
  }

  /// Breaks text between words so that no line is longer than `width` characters; a longer word is cut.
  static func wrapped(_ text: String, width: Int) -> [String] {
    precondition(width > 0, "lines of \(width) characters")
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      var rest = word
      while true {
        let separator = line.isEmpty ? "" : " "
        if line.count + separator.count + rest.count <= width {
          line += separator + rest
          break
        }
        if !line.isEmpty {
          lines.append(line)
          line = ""
        } else {
          lines.append(String(rest.prefix(width)))
          rest = rest.dropFirst(width)
        }
      }
    }
    return lines + (line.isEmpty ? [] : [line])
  }

  /// For each character from the blank on, nine rows of five bits, the top row first, the left pixel highest.
  private static let glyphs: [UInt64] = [
    0x000000000000, 0x042108401000, 0x0A5280000000, 0x0A57D5F52800, 0x047D1C5F1000, 0x18C888898C00,
    0x0C9511593400, 0x042100000000, 0x022210820800, 0x082084222000, 0x00255D520000, 0x00213E420000,
    0x000000031844, 0x00003E000000, 0x000000031800, 0x000888880000, 0x0E8CEB98B800, 0x046108423800,
    0x0E8844447C00, 0x0E884C18B800, 0x0232A5F10800, 0x1F878218B800, 0x06443D18B800, 0x1F0888842000,
    0x0E8C5D18B800, 0x0E8C5E113000, 0x003180630000, 0x003180031844, 0x022220820800, 0x0007C1F00000,
    0x082082222000, 0x0E8844401000, 0x0E8DEB783C00, 0x0E8C63F8C400, 0x1E8C7D18F800, 0x0E8C2108B800,
    0x1C9463197000, 0x1F843D087C00, 0x1F843D084000, 0x0E8C2F18BC00, 0x118C7F18C400, 0x0E2108423800,
    0x071084293000, 0x119531494400, 0x108421087C00, 0x11DD6B18C400, 0x118E6B38C400, 0x0E8C6318B800,
    0x1E8C7D084000, 0x0E8C63593400, 0x1E8C7D494400, 0x0F841C10F800, 0x1F2108421000, 0x118C6318B800,
    0x118C63151000, 0x118C6B5DC400, 0x118A88A8C400, 0x118A88421000, 0x1F0888887C00, 0x0E4210843800,
    0x008208208000, 0x0E1084213800, 0x045440000000, 0x0000000003E0, 0x082080000000, 0x000382F8BC00,
    0x1087A318F800, 0x0003A108B800, 0x010BE318BC00, 0x0003A3F83800, 0x064A38842000, 0x0003E318BC2E,
    0x1087A318C400, 0x040308423800, 0x020184210A4C, 0x1084A98A4800, 0x0C2108423800, 0x0006AB5AD400,
    0x0007A318C400, 0x0003A318B800, 0x0007A318FA10, 0x0003E318BC21, 0x0005B3084000, 0x0003E0E0F800,
    0x084710849800, 0x00046319B400, 0x000463151000, 0x0004635AA800, 0x000454454400, 0x00046318BC2E,
    0x0007C4447C00, 0x032110420C00, 0x042108421000, 0x182104426000, 0x00022A200000,
  ]
}
