import TensorModule

/// Where in the input the pixels of a feature map look: the centre of pixel `i`'s receptive field is the input's pixel
/// `first + step * i`, across and down alike.
///
/// With TensorFlow's SAME padding this is not the centre of the pixel's square when the map is stretched over the input:
/// an odd zero goes after the input, so that the centres move to the right and down.
package struct FeatureMapGeometry: Sendable, Equatable {
  /// The centre of pixel 0's receptive field, in pixels of the input whose centres are whole numbers.
  package let first: Double
  /// From one pixel's centre to the next, in pixels of the input.
  package let step: Double
  /// The map's pixels along one side.
  package let count: Int

  package init(first: Double, step: Double, count: Int) {
    self.first = first
    self.step = step
    self.count = count
  }

  /// Of the input itself.
  package init(inputSize: Int) {
    self.init(first: 0, step: 1, count: inputSize)
  }

  /// Of a map stretched over the input, as `grad-cam` places it.
  package init(stretching count: Int, over inputSize: Int) {
    let step = Double(inputSize) / Double(count)
    self.init(first: step / 2 - 0.5, step: step, count: count)
  }

  /// Of what a convolution or a pooling makes of this map.
  package func after(_ window: Window) -> FeatureMapGeometry {
    let resolved = window.padding.resolve(
      input: count, kernelSize: window.kernelSize, stride: window.stride)
    let centre = Double(window.kernelSize - 1) / 2 - Double(resolved.before)
    return FeatureMapGeometry(
      first: first + centre * step, step: step * Double(window.stride), count: resolved.output)
  }
}

extension Network {
  /// Where the pixels of a feature map look.
  ///
  /// - Parameter name: One of ``featureMapNames``.
  package func geometry(ofFeatureMap name: String) -> FeatureMapGeometry {
    guard let index = featureMapNames.firstIndex(of: name) else {
      preconditionFailure("no feature map \(name) among \(featureMapNames)")
    }
    return blocks[...index].reduce(FeatureMapGeometry(inputSize: inputSize)) { geometry, block in
      block.windows.reduce(geometry) { $0.after($1) }
    }
  }
}
