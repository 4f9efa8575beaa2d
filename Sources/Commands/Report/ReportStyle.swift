import DermaFusion

/// The report's style sheet. Its colours are those of the browser page. On paper the disclaimer stands at the foot of each page,
/// where the browser knows how.
enum ReportStyle {
  /// - Parameter pages: how a page is numbered, with `{page}` and `{pages}`.
  static func text(pages: String) -> String {
    let number = pages.replacing("{page}", with: "\" counter(page) \"").replacing(
      "{pages}", with: "\" counter(pages) \"")
    return styles.replacing("{number}", with: "\"\(number)\"")
  }

  private static let styles = """
    :root { color-scheme: light dark;
      --background: #f5f7fa; --surface: #ffffff; --sunken: #eceff4; --text: #17212b; --soft: #4a5866; --line: #d6dde5;
      --strong-line: #77858f; --accent: #1558b0; --bar: #2f7fe0; --notice: #f4eee6; --notice-line: #d9cbb8; --on-notice: #43382c;
      --warning: #fdf3e1; --warning-line: #b26a00; --on-warning: #4a3000;
      --low: #34c759; --moderate: #ff9500; --high: #ff3b30; --none: #8a97a3; --on-risk: #10161c;
      --low-soft: #e9f8ed; --moderate-soft: #fff3e0; --high-soft: #ffebe9; --none-soft: #edf0f3; }
    @media screen and (prefers-color-scheme: dark) { :root {
      --background: #0e151c; --surface: #161f29; --sunken: #0a1016; --text: #e9eef3; --soft: #b1bdc9; --line: #2b3846;
      --strong-line: #8593a1; --accent: #8cc2ff; --bar: #6db1ff; --notice: #2a251f; --notice-line: #50463a; --on-notice: #ece1d3;
      --warning: #33260f; --warning-line: #e0a040; --on-warning: #ffe4b8;
      --low-soft: #12301c; --moderate-soft: #38260a; --high-soft: #3d1614; --none-soft: #222d38; } }
    *, *::before, *::after { box-sizing: border-box; }
    html { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; line-height: 1.5;
      color: var(--text); background: var(--background); -webkit-text-size-adjust: 100%; }
    body { margin: 0 auto; max-width: 70rem; padding: 1.5rem 1rem 3rem; overflow-wrap: break-word; }
    h1, h2, h3 { line-height: 1.25; margin: 0; text-wrap: balance; }
    h1 { font-size: 1.75rem; letter-spacing: -0.015em; }
    h2 { font-size: 1.3125rem; }
    h3 { font-size: 1rem; margin-bottom: 0.5rem; }
    .notice > p + p { margin-top: 0.5rem; }
    p, dl, ul, ol, figure { margin: 0; }
    a { color: var(--accent); }
    img { max-width: 100%; height: auto; }
    h1, h2, .bars th, .warnings li, .notice, .lead, .index a { overflow-wrap: anywhere; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 0.25rem; }
    header { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem; margin-bottom: 1.5rem; }
    .soft { color: var(--soft); }
    .notice { background: var(--notice); color: var(--on-notice); border: 1px solid var(--notice-line); border-radius: 0.75rem;
      padding: 0.75rem 1rem; }
    .card { background: var(--surface); border: 1px solid var(--line); border-radius: 0.875rem; padding: 1.25rem; margin-bottom: 1.5rem;
      scroll-margin-top: 1rem; }
    .card > h2 { margin-bottom: 1rem; }
    .columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; }
    @media (min-width: 52rem) { .columns { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); } }
    .stack { display: grid; grid-template-columns: minmax(0, 1fr); min-width: 0; gap: 1.25rem; align-content: start; }
    .lead { font-size: 1.125rem; }
    .risk { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.75rem; align-items: center; border-radius: 0.75rem; padding: 0.75rem 1rem;
      font-weight: 600; }
    .risk svg { width: 2rem; height: 2rem; }
    .risk.low { background: var(--low-soft); } .risk.moderate { background: var(--moderate-soft); }
    .risk.high { background: var(--high-soft); } .risk.none { background: var(--none-soft); }
    .shape.low { fill: var(--low); } .shape.moderate { fill: var(--moderate); } .shape.high { fill: var(--high); } .shape.none { fill: var(--none); }
    .glyph { fill: none; stroke: var(--on-risk); stroke-width: 2.2; stroke-linecap: round; stroke-linejoin: round; }
    .views { border: 0; margin: 0; padding: 0; min-width: 0; }
    .views legend { padding: 0; font-weight: 600; margin-bottom: 0.5rem; }
    .views .choices { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-bottom: 0.75rem; }
    .views label { min-width: 0; overflow-wrap: anywhere; display: flex; align-items: center; gap: 0.5rem; min-height: 2.75rem; padding: 0.25rem 0.875rem; border: 1px solid var(--strong-line);
      border-radius: 999px; cursor: pointer; }
    .views label:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
    .views input { accent-color: var(--accent); width: 1.125rem; height: 1.125rem; margin: 0; }
    .pictures { display: grid; }
    .pictures figure { grid-area: 1 / 1; min-width: 0; }
    .pictures img { display: block; width: 100%; height: auto; border-radius: 0.5rem; }
    .pictures figcaption { color: var(--soft); font-size: 0.875rem; margin-top: 0.5rem; }
    .views:has(.show-photograph:checked) .heat, .views:has(.show-heat:checked) .photograph { visibility: hidden; }
    .maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: 0.75rem; }
    .maps img { display: block; width: 100%; border-radius: 0.375rem; }
    .maps figcaption { color: var(--soft); font-size: 0.875rem; }
    .maps figure { break-inside: avoid; }
    .scale { display: grid; grid-template-columns: repeat(5, auto); justify-content: space-between; font-size: 0.875rem; color: var(--soft);
      font-variant-numeric: tabular-nums; }
    .scale .ramp { grid-column: 1 / -1; height: 0.875rem; border: 1px solid var(--strong-line); border-radius: 0.25rem; }
    .scale .label { grid-column: 1 / -1; }
    table { border-collapse: collapse; width: 100%; }
    caption { text-align: start; font-weight: 600; padding-bottom: 0.5rem; }
    th, td { padding: 0.25rem 0; vertical-align: middle; }
    .bars th { text-align: start; font-weight: 400; padding-inline-end: 0.75rem; }
    .bars .first th, .bars .first td { font-weight: 650; }
    .bars .number { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; padding-inline-end: 0.75rem; width: 4.5rem; }
    .bars .bar { width: 40%; }
    .track { display: block; height: 0.75rem; border-radius: 0.25rem; background: var(--sunken); }
    .track span { display: block; height: 100%; min-width: 1px; border-radius: 0.25rem; background: var(--bar); }
    .first .track span { background: var(--accent); }
    .facts { display: grid; grid-template-columns: minmax(min(6rem, 30%), auto) minmax(0, 1fr); gap: 0.25rem 1rem; }
    .facts dt { color: var(--soft); } .facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
    .facts .empty { color: var(--soft); font-style: italic; }
    .warnings { list-style: none; padding: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
    .warnings li { background: var(--warning); color: var(--on-warning); border-inline-start: 4px solid var(--warning-line); border-radius: 0.25rem;
      padding: 0.5rem 0.75rem; }
    summary { cursor: pointer; font-weight: 600; min-height: 2.75rem; padding: 0.5rem 0; }
    code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875rem; }
    .index { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 0.75rem; }
    .index a { height: 100%; display: grid; grid-template-columns: min(4.5rem, 30%) minmax(0, 1fr); gap: 0.875rem; align-items: center; min-height: 6rem; padding: 0.75rem; color: inherit;
      text-decoration: none; border: 1px solid var(--line); border-radius: 0.75rem; }
    .index a:hover { border-color: var(--strong-line); }
    .index img { width: 100%; height: auto; border-radius: 0.375rem; }
    .index .name { color: var(--accent); text-decoration: underline; text-underline-offset: 0.15em; overflow-wrap: anywhere; }
    .index .verdict { display: flex; gap: 0.375rem; align-items: center; font-size: 0.875rem; }
    .index svg { width: 1.25rem; height: 1.25rem; flex: none; }
    .answer-sheet, .lines { display: none; }
    footer { color: var(--soft); font-size: 0.875rem; }
    @media screen and (max-width: 30rem) {
      .facts { grid-template-columns: minmax(0, 1fr); } .facts dd { margin-bottom: 0.5rem; }
      .bars tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; }
      .bars .number { width: auto; padding: 0.25rem 0; } .bars .bar { grid-column: 1 / -1; width: auto; padding-top: 0; }
    }
    @media print {
      @page { size: A4; margin: 14mm 14mm 21mm;
        @bottom-left { content: "\(Wording.disclaimer)"; width: 160mm; font: 7pt/1.35 sans-serif; color: #4a5866; vertical-align: top;
          padding-top: 3mm; }
        @bottom-right { content: {number}; width: 22mm; font: 7pt sans-serif; color: #4a5866; vertical-align: top;
          padding-top: 3mm; } }
      html { background: #ffffff; font-size: 9.5pt; }
      body { max-width: none; padding: 0; }
      .card, .risk, .notice, .track, .track span, .ramp, .warnings li { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
      .card { border: 0; padding: 0; break-before: page; }
      main > .card:first-child { break-before: auto; }
      .columns { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 8mm; }
      .choices, .views legend, .back { display: none !important; }
      .pictures { grid-template-columns: 1fr; gap: 4mm; }
      .pictures figure { grid-area: auto; visibility: visible !important; }
      .pictures img { max-width: 72mm; }
      .index a, .warnings li, tr, .scale, footer { break-inside: avoid; }
      .lesson { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 8mm; align-items: start; }
      .lesson > .card { break-before: auto; break-inside: avoid; min-width: 0; }
      .lesson .columns { display: block; }
      .lesson img { width: 100%; max-width: 72mm; height: auto; }
      .lesson .lines { display: block; }
      .lines div { height: 9mm; border-bottom: 0.3mm solid #4a5866; }
      .lesson .answers, .lesson #index { display: none; }
      .lesson > .answer-sheet { display: block; grid-column: 1 / -1; break-before: page; }
      .answer-sheet th { text-align: start; overflow-wrap: anywhere; } .answer-sheet td { padding-inline-start: 4mm; }
    }
    """
}

/// The signs of the risks, those of the browser page: form and colour differ.
enum RiskIcon {
  /// - Parameter risk: nil: a circle with a dash, where there is none to tell.
  static func svg(_ risk: RiskLevel?) -> String {
    let (name, shape, glyph) = parts(risk)
    return """
      <svg viewBox="0 0 24 24" aria-hidden="true"><path class="shape \(name)" d="\(shape)"/>\
      <path class="glyph" d="\(glyph)"/></svg>
      """
  }

  private static func parts(_ risk: RiskLevel?) -> (name: String, shape: String, glyph: String) {
    switch risk {
    case .low:
      (
        "low", "M12 2.2l8.2 3v6.3c0 5-3.4 8.6-8.2 10.3c-4.8-1.7-8.2-5.3-8.2-10.3V5.2z",
        "M8 12l2.9 2.9L16.2 9.4"
      )
    case .moderate:
      (
        "moderate",
        "M12 2.6c.6 0 1.1.3 1.4.8l9 15.7c.6 1.1-.2 2.4-1.4 2.4H3c-1.2 0-2-1.3-1.4-2.4l9-15.7c.3-.5.8-.8 1.4-.8z",
        "M12 9v5.2 M12 17.6v.2"
      )
    case .high: ("high", "M8 2.5h8L21.5 8v8L16 21.5H8L2.5 16V8z", "M12 7v6.2 M12 16.8v.2")
    case nil: ("none", "M12 2.5a9.5 9.5 0 1 0 0 19a9.5 9.5 0 1 0 0-19z", "M8 12h8")
    }
  }

  /// The name of a risk in class attributes.
  static func name(_ risk: RiskLevel?) -> String { risk?.rawValue ?? "none" }
}

/// Text for a document in HTML or SVG.
enum HTML {
  /// With the characters replaced that would end a text or an attribute's value, and those that would not be seen. By
  /// scalars: a bracket that an accent follows is another character.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.printable.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// `data:image/jpeg;base64,...`
  static func jpegAddress(_ bytes: [UInt8]) -> String { "data:image/jpeg;base64,\(base64(bytes))" }

  /// RFC 4648, with padding.
  static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var group = 0
      for offset in 0..<3 { group = group << 8 | (offset < count ? Int(bytes[index + offset]) : 0) }
      for place in 0..<4 {
        text.append(place <= count ? digits[group >> ((3 - place) * 6) & 63] : UInt8(ascii: "="))
      }
      index += 3
    }
    return String(decoding: text, as: UTF8.self)
  }
}
