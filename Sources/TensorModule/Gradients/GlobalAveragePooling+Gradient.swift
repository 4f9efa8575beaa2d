extension GlobalAveragePooling {
  /// The gradient with respect to the input: each pixel's is the means' divided by the number of pixels.
  ///
  /// - Parameters:
  ///   - meansGradient: `[channels]`
  ///   - inputGradient: Overwritten, its padded channels with zeros.
  package static func inputGradient(_ meansGradient: [Float], into inputGradient: FeatureMap) {
    let shape = inputGradient.shape
    precondition(
      meansGradient.count == shape.channels, "a gradient of \(meansGradient.count) means for \(shape)")
    let factor = 1 / Float(shape.pixelCount)
    let pixel = meansGradient.map { $0 * factor }
    for index in 0..<shape.pixelCount {
      let target = inputGradient.pointer + index * inputGradient.pixelStride
      target.update(from: pixel, count: shape.channels)
      (target + shape.channels).update(repeating: 0, count: inputGradient.pixelStride - shape.channels)
    }
  }
}
