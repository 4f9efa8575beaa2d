import DermaFusion
import Figures
import ImageCodecs
import SystemModule

extension Explanation {
  /// ``figure(_:trusts:imageName:)`` as a PNG file, which carries the caption and the disclaimer as text too.
  ///
  /// - Throws: ``DermaFusionError/Code/encodingFailed``
  public func png(
    _ style: FigureStyle = FigureStyle(), trusts: [MapTrust] = [], imageName: String? = nil
  ) throws(DermaFusionError) -> [UInt8] {
    try PNGEncoder.encode(
      figure(style, trusts: trusts, imageName: imageName),
      text: captions(style, trusts: trusts, imageName: imageName))
  }

  /// ``figure(_:trusts:imageName:)`` as a PDF file of one page, which carries the caption and the disclaimer as information too.
  ///
  /// - Throws: ``DermaFusionError/Code/encodingFailed``
  public func pdf(
    _ style: FigureStyle = FigureStyle(), trusts: [MapTrust] = [], imageName: String? = nil
  ) throws(DermaFusionError) -> [UInt8] {
    try PDFEncoder.encode(
      figure(style, trusts: trusts, imageName: imageName),
      text: captions(style, trusts: trusts, imageName: imageName))
  }
}
