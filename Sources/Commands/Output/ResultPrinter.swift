import CommandLineSupport
import DermaFusion
import JSONModule

/// Writes results one by one in one format, each as soon as it is there.
struct ResultPrinter {
  let format: OutputFormat
  let showsTiming: Bool
  let terminal: Terminal
  private var isFirst = true

  init(format: OutputFormat, showsTiming: Bool, terminal: Terminal) {
    self.format = format
    self.showsTiming = showsTiming
    self.terminal = terminal
  }

  mutating func print(
    _ result: Classification, timing: ClassificationTiming, shares: MetadataShares? = nil, imageName: String
  ) throws(OutputError) {
    let timing = showsTiming ? timing : nil
    switch format {
    case .text:
      let text = ClassificationText(width: terminal.width, usesColour: terminal.usesColour)
      try terminal.write(
        (isFirst ? "" : "\n") + text.text(result, imageName: imageName, timing: timing, shares: shares))
    case .json:
      let extra =
        (shares.map { [(key: "metadataShares", value: $0.orderedJSON)] } ?? [])
        + (timing.map { [(key: "timing", value: $0.json)] } ?? [])
      try terminal.write(result.orderedJSON(imageName: imageName, extra: extra).text + "\n")
    case .csv:
      try terminal.write(
        ClassificationCSV.lines(result, imageName: imageName, timing: timing, isFirst: isFirst))
    }
    isFirst = false
  }
}

extension ClassificationTiming {
  var totalMilliseconds: Double { decodeMilliseconds + preprocessMilliseconds + networkMilliseconds }

  var json: JSONValue {
    .object([
      "decodeMs": .number(decodeMilliseconds), "preprocessMs": .number(preprocessMilliseconds),
      "networkMs": .number(networkMilliseconds),
    ])
  }

  var words: String {
    let parts = [
      ("decode", decodeMilliseconds), ("preprocess", preprocessMilliseconds),
      ("network", networkMilliseconds),
    ]
    return parts.map { "\($0.0) \($0.1.fixed(digits: 1)) ms" }.joined(separator: ", ")
  }
}
