import DermaFusion

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
