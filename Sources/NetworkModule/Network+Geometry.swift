extension Network {
  /// Where the pixels of a feature map look.
  ///
  /// - Parameter name: One of ``featureMapNames``.
  package func geometry(ofFeatureMap name: String) -> FeatureMapGeometry {
    var geometry = FeatureMapGeometry(inputSize: inputSize).after(stem.window)
    if name == featureMapNames[0] { return geometry }
    for block in blocks {
      geometry = geometry.after(block.filter.depthwise.window)
      if block.name == name { return geometry }
    }
    precondition(
      name == featureMapNames[featureMapNames.count - 1], "no feature map \(name) among \(featureMapNames)")
    return geometry
  }
}
