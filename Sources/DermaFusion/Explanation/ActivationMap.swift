import NetworkModule
import SystemModule
import TensorModule

/// The regions of an image that support a class, by one model and method.
public struct ActivationMap: Sendable, Equatable {
  /// The state of a map.
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
  /// The map's state. When it is not ``Status/ok``, the normalised map is 0 everywhere.
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

  /// The places that the map's rows look at.
  package let rows: FeatureMapGeometry
  package let columns: FeatureMapGeometry

  /// - Parameters:
  ///   - signedValues: `[height, width]`
  ///   - geometry: The places that the pixels of the feature map look at, rows and columns alike; nil: stretched over the input.
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
      throw DermaFusionError(
        .nonFiniteOutput,
        message: "the activation map of class \(classIndex), counted from 0, at \(layer) is not finite",
        remedy: "Choose another layer or method; if all fail, the model's weights are damaged.")
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
  ///   - gradient: A map of the same shape; nil for a method that uses none.
  ///   - geometry: The places that the pixels of the feature map look at; nil: stretched over the input.
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

  /// The map's positive part, smooth and placed where the network looks: `[side, side]` over the square that the model
  /// saw, in the units of ``signedValues``, 0 at the least.
  ///
  /// Each of the map's pixels lies on the centre of its receptive field. Between them the map is interpolated by the cubic
  /// of Mitchell and Netravali ("Reconstruction Filters in Computer Graphics", 1988), which has no creases and next to no
  /// overshoot; beyond the outermost centres it goes on as it ends.
  ///
  /// - Parameter side: at least 1.
  public func placedSupport(side: Int) -> [Float] {
    let across = Self.taps(columns, side: side, inputSize: size)
    let down = Self.taps(rows, side: side, inputSize: size)
    let wide = unsafe [Float](unsafeUninitializedCapacity: height * side) { target, count in
      count = height * side
      for y in 0..<height {
        for (x, tap) in across.enumerated() {
          var sum: Float = 0
          for index in 0..<4 {
            sum += max(signedValues[y * width + tap.places[index]], 0) * tap.weights[index]
          }
          unsafe target[y * side + x] = sum
        }
      }
    }
    return unsafe [Float](unsafeUninitializedCapacity: side * side) { target, count in
      count = side * side
      unsafe wide.withUnsafeBufferPointer { wide in
        for (y, tap) in down.enumerated() {
          let rows = (0..<4).map { tap.places[$0] * side }
          for x in 0..<side {
            let upper = unsafe wide[rows[0] + x] * tap.weights[0] + wide[rows[1] + x] * tap.weights[1]
            let lower = unsafe wide[rows[2] + x] * tap.weights[2] + wide[rows[3] + x] * tap.weights[3]
            unsafe target[y * side + x] = max(upper + lower, 0)
          }
        }
      }
    }
  }

  /// ``placedSupport(side:)`` at the network's input size, scaled to 0...1: what pictures draw. All 0 where the status is not
  /// ``Status/ok``.
  public var placedValues: [Float] {
    if status != .ok { return values }
    let support = placedSupport(side: size)
    let greatest = support.max() ?? 0
    return greatest > 0 ? support.map { $0 / greatest } : support
  }

  private typealias Tap = (places: SIMD4<Int>, weights: SIMD4<Float>)

  /// For each of `side` pixels, the four of the map around it and their weights.
  private static func taps(_ geometry: FeatureMapGeometry, side: Int, inputSize: Int) -> [Tap] {
    let scale = Double(inputSize) / Double(side)
    return (0..<side).map { index in
      let inputPlace = (Double(index) + 0.5) * scale - 0.5
      let place = (inputPlace - geometry.first) / geometry.step
      let before = place.rounded(.down)
      var tap: Tap = (.zero, .zero)
      for offset in 0..<4 {
        tap.places[offset] = min(max(Int(before) + offset - 1, 0), geometry.count - 1)
        tap.weights[offset] = Float(mitchell(place - before - Double(offset - 1)))
      }
      return tap
    }
  }

  /// B = C = 1/3; the four weights of a place add up to 1.
  private static func mitchell(_ distance: Double) -> Double {
    let x = abs(distance)
    if x < 1 { return ((7 * x - 12) * x * x + 16.0 / 3) / 6 }
    if x < 2 { return (((-7.0 / 3 * x + 12) * x - 20) * x + 32.0 / 3) / 6 }
    return 0
  }

  /// The mean place of the map's mass, each pixel at the centre of its receptive field, in fractions of the cropped
  /// image's sides: `x` 0 (left) ... 1 (right), `y` 0 (top) ... 1 (bottom); nil when there is nothing to show.
  public var massCentre: (x: Double, y: Double)? {
    guard status == .ok else { return nil }
    var (sum, x, y) = (0.0, 0.0, 0.0)
    for row in 0..<height {
      for column in 0..<width {
        let value = Double(max(signedValues[row * width + column], 0))
        sum += value
        x += value * Double(column)
        y += value * Double(row)
      }
    }
    let fraction = { (geometry: FeatureMapGeometry, place: Double) in
      min(max((geometry.first + place * geometry.step + 0.5) / Double(size), 0), 1)
    }
    return (fraction(columns, x / sum), fraction(rows, y / sum))
  }
}

/// The steps from a signed map to one that can be shown, each as the PyPI package `grad-cam` does it.
package enum Heatmap {
  /// Cuts off the negative part, scales, resizes, and scales once more.
  ///
  /// - Parameter values: `[height, width]`, finite.
  /// - Returns: `[side, side]`, 0...1.
  package static func normalized(_ values: [Float], height: Int, width: Int, side: Int) -> [Float] {
    var positive = values.map { max($0, 0) }
    scale(&positive)
    var map = resized(positive, height: height, width: width, side: side)
    scale(&map)
    return map
  }

  /// `(v - minimum) / (1e-7 + maximum of that)`: 0...1, a little below 1 at the most.
  static func scale(_ values: inout [Float]) {
    let (minimum, maximum) = extremes(values)
    let range = 1e-7 + (maximum - minimum)
    unsafe values.withUnsafeMutableBufferPointer { values in
      for index in values.indices { unsafe values[index] = unsafe (values[index] - minimum) / range }
    }
  }

  /// The least and the greatest of finite values. In lanes, since one comparison would wait for the one before.
  private static func extremes(_ values: [Float]) -> (minimum: Float, maximum: Float) {
    guard let first = values.first else { return (0, 0) }
    var least = SIMD16<Float>(repeating: first)
    var greatest = least
    unsafe values.withUnsafeBytes { bytes in
      let step = MemoryLayout<SIMD16<Float>>.size
      for offset in stride(from: 0, through: bytes.count - step, by: step) {
        let lanes = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: SIMD16<Float>.self)
        least.replace(with: lanes, where: lanes .< least)
        greatest.replace(with: lanes, where: lanes .> greatest)
      }
    }
    let rest = values.suffix(values.count % 16)
    return (min(least.min(), rest.min() ?? first), max(greatest.max(), rest.max() ?? first))
  }

  /// Bilinear, between the centres of pixels, without antialiasing: OpenCV's `resize` with `INTER_LINEAR`.
  package static func resized(_ values: [Float], height: Int, width: Int, side: Int) -> [Float] {
    let columns = taps(from: width, to: side)
    let wide = unsafe [Float](unsafeUninitializedCapacity: height * side) { target, count in
      count = height * side
      for y in 0..<height {
        for (x, tap) in columns.enumerated() {
          unsafe target[y * side + x] =
            values[y * width + tap.first] * (1 - tap.weight) + values[y * width + tap.second] * tap.weight
        }
      }
    }
    let rows = taps(from: height, to: side)
    return unsafe [Float](unsafeUninitializedCapacity: side * side) { target, count in
      count = side * side
      unsafe wide.withUnsafeBufferPointer { wide in
        for (y, tap) in rows.enumerated() {
          let (upper, lower) = (tap.first * side, tap.second * side)
          for x in 0..<side {
            unsafe target[y * side + x] =
              unsafe wide[upper + x] * (1 - tap.weight) + wide[lower + x] * tap.weight
          }
        }
      }
    }
  }

  /// For each output, the two inputs it lies between and the second one's weight.
  private static func taps(from input: Int, to output: Int) -> [(first: Int, second: Int, weight: Float)] {
    let scale = Double(input) / Double(output)
    return (0..<output).map { index in
      let position = min(max((Double(index) + 0.5) * scale - 0.5, 0), Double(input - 1))
      let first = Int(position)
      return (first, min(first + 1, input - 1), Float(position - Double(first)))
    }
  }
}
