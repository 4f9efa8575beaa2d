import DermaFusion
import ImagePipeline

extension Explanation {
  /// ``figure(_:trusts:)`` as a PNG file, which carries the caption and the disclaimer as text too.
  ///
  /// - Throws: ``ImageError/encodingFailed(reason:)``
  public func png(
    _ style: FigureStyle = FigureStyle(), trusts: [MapTrust] = []
  ) throws(ImageError) -> [UInt8] {
    try PNGEncoder.encode(figure(style, trusts: trusts), text: captions(style, trusts: trusts))
  }
}
