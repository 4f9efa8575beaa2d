import SystemModule
import TensorModule

/// The distance of an image's features from those of the images that the model was trained on: the squared Mahalanobis
/// distance to the nearest class, with one covariance for all classes (Lee et al., "A simple unified framework for
/// detecting out-of-distribution samples and adversarial attacks", 2018).
///
/// The features are the means of the map at the end of a stage in the middle of the network: what an image is made of
/// still shows there, while the last map tells the classes apart and is blind to much else.
package struct FeatureDistance: Sendable {
  /// `[features][features]`: takes differences to where their covariance within classes is the identity.
  private let whitening: [[Double]]
  /// `[classes][features]`
  private let whitenedMeans: [[Double]]

  /// - Parameters:
  ///   - means: of each class, `[classes, features]`.
  ///   - whitening: `[features, features]`
  package init(means: Tensor, whitening: Tensor) {
    precondition(
      means.shape.count == 2 && whitening.shape == [means.shape[1], means.shape[1]],
      "means of shape \(means.shape) for a whitening of shape \(whitening.shape)")
    func rows(_ tensor: Tensor) -> [[Double]] {
      stride(from: 0, to: tensor.values.count, by: tensor.shape[1]).map {
        tensor.values[$0..<$0 + tensor.shape[1]].map(Double.init)
      }
    }
    let whitening = rows(whitening)
    self.whitening = whitening
    whitenedMeans = rows(means).map { mean in whitening.map { Mathematics.dot($0, mean) } }
  }

  /// Per feature, so about 1 for what the model knows.
  ///
  /// - Parameter features: the means of the stage's last map, `[features]`.
  package func callAsFunction(_ features: [Float]) -> Double {
    precondition(
      features.count == whitening.count, "\(features.count) features, \(whitening.count) were fitted")
    let features = features.map(Double.init)
    let whitened = whitening.map { Mathematics.dot($0, features) }
    let squares = whitenedMeans.map { mean in
      zip(whitened, mean).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }
    return squares.reduce(.infinity, min) / Double(features.count)
  }
}

/// A linear probe of features (Alain and Bengio, "Understanding intermediate layers using linear classifier probes", 2016):
/// how much an image looks like one that no dermatoscope took.
///
/// A dermatoscope shows in what the first stages see: the light, the gel, the scale of the skin's lines. Later stages have
/// less of it.
package struct DermoscopyProbe: Sendable {
  /// The weight of each feature.
  private let weights: [Double]

  package init(weights: [Float]) { self.weights = weights.map(Double.init) }

  /// The features' weighted sum, added up in their order.
  ///
  /// - Parameter features: the means of the last maps of the stages, one stage after the other.
  package func callAsFunction(_ features: [Float]) -> Double {
    precondition(
      features.count == weights.count, "\(features.count) features, \(weights.count) were fitted")
    return zip(weights, features).reduce(0) { $0 + $1.0 * Double($1.1) }
  }
}
