import NetworkModule
import SystemModule
import TensorModule

/// The regions of an image that support a class, by one model and method.
public struct ActivationMap: Sendable, Equatable {
  /// Whether there is something to see.
  public enum Status: String, Sendable, CaseIterable {
    /// The map varies and is positive somewhere.
    case ok
    /// Nothing in the map is above 0: no place supports the class, at this layer and by this method.
    case allNegative = "all_negative"
    /// Every place has the same value, above 0.
    case flat
  }

  /// The class whose logit was explained, by its index among the model's classes, from 0.
  public let classIndex: Int
  /// The way the map was made.
  public let method: ActivationMapMethod
  /// The feature map it was made from, by timm's name: `conv_stem`, `blocks.0.0`, ..., `conv_head`.
  public let layer: String
  /// Whether there is something to see. When it is not ``Status/ok``, the normalised map is 0 everywhere.
  public let status: Status
  /// Rows of the feature map.
  public let height: Int
  /// Columns of the feature map.
  public let width: Int
  /// The map before its negative part is cut off and it is scaled: `[height, width]`, any finite values, row 0 at the
  /// top of the image. Values below 0 count against the class.
  public let signedValues: [Float]
  /// The side of ``values``: the network's input size.
  public let size: Int
  /// The map as the PyPI package `grad-cam` returns it: the part above 0, scaled to 0...1 and resized to the network's
  /// input, `[size, size]`, row 0 at the top of the cropped image.
  public let values: [Float]

  /// Where the map's rows look.
  package let rows: FeatureMapGeometry
  /// Where its columns look.
  package let columns: FeatureMapGeometry

  /// - Parameters:
  ///   - signedValues: `[height, width]`
  ///   - geometry: Where the pixels of the feature map look, rows and columns alike; nil: stretched over the input.
  /// - Throws: ``DermaFusionError/Code/nonFiniteOutput``
  package init(
    classIndex: Int, method: ActivationMapMethod, layer: String, height: Int, width: Int,
    signedValues: [Float], size: Int, geometry: FeatureMapGeometry? = nil
  ) throws(DermaFusionError) {
    precondition(
      signedValues.count == height * width, "\(signedValues.count) values for a map of [\(height), \(width)]")
    rows = geometry ?? FeatureMapGeometry(stretching: height, over: size)
    columns = geometry ?? FeatureMapGeometry(stretching: width, over: size)
    precondition(
      rows.count == height && columns.count == width,
      "a map of [\(height), \(width)] at the places of [\(rows.count), \(columns.count)]")
    guard signedValues.allSatisfy({ $0.isFinite }) else {
      throw .notFinite(classIndex: classIndex, layer: layer)
    }
    self.classIndex = classIndex
    self.method = method
    self.layer = layer
    self.height = height
    self.width = width
    self.signedValues = signedValues
    self.size = size
    let (least, greatest) = (signedValues.min() ?? 0, signedValues.max() ?? 0)
    status = greatest <= 0 ? .allNegative : least == greatest ? .flat : .ok
    values = Heatmap.normalized(signedValues, height: height, width: width, side: size)
  }

  /// The least of ``signedValues``.
  public var minimum: Float { signedValues.min() ?? 0 }

  /// The greatest of ``signedValues``.
  public var maximum: Float { signedValues.max() ?? 0 }

  /// The normalised map for an image of another size: as ``values``, but `[side, side]`.
  ///
  /// - Parameter side: at least 1.
  public func values(side: Int) -> [Float] {
    Heatmap.normalized(signedValues, height: height, width: width, side: side)
  }
}

extension ActivationMap {
  /// - Parameters:
  ///   - activations: `[height, width, channels]`
  ///   - gradient: Of the same shape; nil for a method that uses none.
  ///   - geometry: Where the pixels of the feature map look; nil: stretched over the input.
  package init(
    classIndex: Int, method: ActivationMapMethod, layer: String, activations: Tensor, gradient: Tensor?,
    size: Int, geometry: FeatureMapGeometry? = nil
  ) throws(DermaFusionError) {
    try self.init(
      classIndex: classIndex, method: method, layer: layer, height: activations.shape[0],
      width: activations.shape[1],
      signedValues: method.signedMap(activations: activations, gradient: gradient), size: size,
      geometry: geometry)
  }
}
