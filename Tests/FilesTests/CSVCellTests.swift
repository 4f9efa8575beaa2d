import Files
import Testing

@Suite struct CSVCellTests {
  @Test(arguments: [
    ("lesion.jpg", "lesion.jpg"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""),
    ("a\"\u{301}b", "\"a\"\"\u{301}b\""), ("", ""), ("-0.5", "-0.5"), ("-1e-09", "-1e-09"), ("+3", "+3"),
    ("--", "'--"),
    ("=1+1", "'=1+1"), ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("@SUM(1)", "'@SUM(1)"),
    ("-a.png", "'-a.png"),
    ("+a.png", "'+a.png"), ("\t=1", "\"'\t'=1\""), ("\r=1", "\"'\r'=1\""), ("=1,2", "\"'=1,2\""),
    ("\u{FF1D}1", "'\u{FF1D}1"),
    ("a=1", "a=1"), ("x;=1+1;.jpg", "\"x;'=1+1;.jpg\""), ("x\t-y", "\"x\t'-y\""),
    ("a;-1", "\"a;-1\""), ("a\n@b", "\"a\n'@b\""), ("a; =b", "\"a; =b\""), ("'=1", "''=1"), ("'a", "'a"),
    ("''=1;'+x", "\"'''=1;''+x\""), ("\u{1B}[31m", "\u{1B}[31m"),
  ])
  func aTextIsNeverAFormula(text: String, cell: String) {
    #expect(CSVCell.text(text) == cell)
  }

  /// The texts are all of up to five of the characters that matter.
  @Test func noTwoTextsHaveOneCell() {
    let characters = ["'", "=", "-", "1", ";", "\t", "\n", "a"]
    var texts = [""]
    var cells: [[UInt8]: String] = [:]
    for _ in 0..<5 {
      texts = texts.flatMap { text in characters.map { text + $0 } }
      for text in texts {
        let cell = CSVCell.neutralized(text)
        if Array(CSVCell.original(cell).utf8) != Array(text.utf8) {
          Issue.record("\(text.debugDescription) is read from its cell \(cell.debugDescription) as another")
          return
        }
        if let other = cells.updateValue(text, forKey: Array(cell.utf8)) {
          Issue.record(
            "\(text.debugDescription) and \(other.debugDescription) are both \(cell.debugDescription)")
          return
        }
      }
    }
  }
}
