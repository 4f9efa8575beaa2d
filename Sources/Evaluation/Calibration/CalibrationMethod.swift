import DermaFusion

/// The way to fit a model's probabilities to images.
package struct CalibrationMethod {
  /// The model as it is.
  let present: ModelCalibration
  /// The weight of an image of melanoma beside others, in a fit that weighs rare classes more; nil for the most likely
  /// calibration.
  let melanomaWeight: Double?
  /// Rounds a fit to the types that the model stores it in. The limits are fitted to the rounded one.
  let stored: (CalibrationFit) -> CalibrationFit

  package init(
    from present: ModelCalibration, melanomaWeight: Double? = nil,
    stored: @escaping (CalibrationFit) -> CalibrationFit = { $0 }
  ) {
    self.present = present
    self.melanomaWeight = melanomaWeight
    self.stored = stored
  }

  /// The most likely bias and temperature, before they are weighted or rounded.
  ///
  /// - Parameters:
  ///   - images: at least one.
  ///   - changesLastLayer: true to fit the last layer's weights too; each image has features then.
  package func likeliest(_ images: [ModelCalibration.Image], changesLastLayer: Bool = false) -> CalibrationFit
  {
    CalibrationFit(
      logits: images.map { $0.logits.values.map { Double($0) } }, labels: images.map(\.label.index),
      temperature: present.fit.temperature, features: changesLastLayer ? images.map { $0.features! } : nil)
  }

  /// The fit of the probabilities as the model stores it. Parameters as for ``likeliest(_:changesLastLayer:)``.
  package func fit(_ images: [ModelCalibration.Image], changesLastLayer: Bool = false) -> CalibrationFit {
    var fit = likeliest(images, changesLastLayer: changesLastLayer)
    if let melanomaWeight {
      let weighted = CalibrationFit(
        logits: images.map { fit.changed($0.logits.values.map { Double($0) }, features: $0.features) },
        labels: images.map(\.label.index), melanoma: images.first?.logits.labels.melanoma?.index,
        melanomaWeight: melanomaWeight)
      fit = CalibrationFit(bias: weighted.bias, temperature: weighted.temperature, change: fit.change)
    }
    // With as many digits as config.json gets, and within its rule.
    let temperature = min(max((fit.temperature * 1e4).rounded() / 1e4, 1e-3), 1e3)
    return stored(CalibrationFit(bias: fit.bias, temperature: temperature, change: fit.change))
  }

  /// The model with some parts fitted to images.
  package func fitted(_ parts: Set<CalibrationPart>, to images: [ModelCalibration.Image]) -> ModelCalibration
  {
    ModelCalibration(
      parts, fit: fit(images, changesLastLayer: parts.contains(.lastLayer)), fittedTo: images, from: present)
  }
}
