/// How far the pooled features of an image lie from those of the images that the model was trained on: the squared
/// Mahalanobis distance to the nearest class, with one covariance for all classes. Along some directions it has a
/// variance each, along all others one together.
struct FeatureDistance: Sendable {
  /// `[classes][features]`
  private let means: [[Double]]
  /// `[components][features]`, orthonormal.
  private let components: [[Double]]
  /// `[components + 1]`, above 0; last, that of every other direction.
  private let variances: [Double]
  /// `[classes][components]`
  private let projectedMeans: [[Double]]

  /// - Parameters:
  ///   - means: `[classes, features]`
  ///   - components: `[components, features]`, orthonormal.
  ///   - variances: `[components + 1]`
  init(means: [Float], components: [Float], variances: [Float]) {
    let componentCount = variances.count - 1
    let featureCount = components.count / componentCount
    func rows(_ values: [Float]) -> [[Double]] {
      stride(from: 0, to: values.count, by: featureCount).map {
        values[$0..<$0 + featureCount].map(Double.init)
      }
    }
    let (means, components) = (rows(means), rows(components))
    self.means = means
    self.components = components
    self.variances = variances.map(Double.init)
    projectedMeans = means.map { mean in components.map { dot($0, mean) } }
  }

  /// Per feature, so about 1 for what the model knows.
  ///
  /// - Parameter pooled: `[features]`
  func callAsFunction(_ pooled: [Float]) -> Double {
    let features = pooled.map(Double.init)
    let projected = components.map { dot($0, features) }
    var nearest = Double.infinity
    for (mean, projectedMean) in zip(means, projectedMeans) {
      var (along, within, square) = (0.0, 0.0, 0.0)
      for index in projected.indices {
        let difference = projected[index] - projectedMean[index]
        within += difference * difference
        along += difference * difference / variances[index]
      }
      for index in features.indices {
        square += (features[index] - mean[index]) * (features[index] - mean[index])
      }
      nearest = min(nearest, along + max(square - within, 0) / variances[variances.count - 1])
    }
    return nearest / Double(features.count)
  }
}

private func dot(_ a: [Double], _ b: [Double]) -> Double {
  var sum = 0.0
  for index in a.indices { sum += a[index] * b[index] }
  return sum
}
