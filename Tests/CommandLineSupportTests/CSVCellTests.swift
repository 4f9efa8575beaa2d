import Testing

@testable import CommandLineSupport

@Suite struct CSVCellTests {
  @Test(arguments: [
    ("lesion.jpg", "lesion.jpg"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""),
    ("a\"\u{301}b", "\"a\"\"\u{301}b\""), ("", ""), ("-0.5", "-0.5"), ("-1e-09", "-1e-09"), ("+3", "+3"),
    ("--", "'--"),
    ("=1+1", "'=1+1"), ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("@SUM(1)", "'@SUM(1)"),
    ("-a.png", "'-a.png"),
    ("+a.png", "'+a.png"), ("\t=1", "'\t=1"), ("\r=1", "\"'\r=1\""), ("=1,2", "\"'=1,2\""),
    ("\u{FF1D}1", "'\u{FF1D}1"),
    ("a=1", "a=1"), ("\u{1B}[31m", "\u{1B}[31m"),
  ])
  func aTextIsNeverAFormula(text: String, cell: String) {
    #expect(CSVCell.text(text) == cell)
  }

  @Test(arguments: [
    ("\u{1B}[31mred", "\\u{1B}[31mred"), ("\u{202E}gpj.exe", "\\u{202E}gpj.exe"), ("\u{200F}x", "\\u{200F}x"),
    ("=\u{7}", "'=\\u{07}"), ("a\nb", "a\\nb"),
  ])
  func aTerminalIsGivenNothingToObey(text: String, cell: String) {
    #expect(CSVCell.text(text, isForTerminal: true) == cell)
  }
}
