import ImagePipeline

extension UInt8 {
  /// A blank, or one of the controls from tab to carriage return.
  var isASCIIWhitespace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
