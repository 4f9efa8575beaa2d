import TensorModule

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
