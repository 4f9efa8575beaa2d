import Files
import KernelInterface
import SystemModule
import TensorModule

/// A map's pixels as tokens, behind class and register tokens, with positions added.
final class AddTokens: Operation {
  struct Form: Sendable, Equatable {
    /// The tensors that come first, `[1, count, channels]`, in order.
    let first: [(name: String, count: Int)]
    /// The tensor of positions, `[1, count, channels]`; nil: none.
    let positions: String?
    /// True if the first tokens have positions too.
    let embedsFirst: Bool

    var firstCount: Int { first.reduce(0) { $0 + $1.count } }

    static func == (a: Form, b: Form) -> Bool {
      a.first.map { $0.name } == b.first.map { $0.name }
        && a.first.map { $0.count } == b.first.map { $0.count }
        && a.positions == b.positions && a.embedsFirst == b.embedsFirst
    }
  }

  let form: Form

  init(_ form: Form) { self.form = form }

  var name: String { form.positions ?? form.first.first?.name ?? "" }
  var title: String { form.positions == nil ? "tokens" : "tokens, positions" }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape {
    FeatureShape(
      height: form.firstCount + inputs[0].pixelCount, width: 1, channels: inputs[0].channels)
  }

  func parameterCount(_ inputs: [FeatureShape]) -> Int {
    let positions = inputs[0].pixelCount + (form.embedsFirst ? form.firstCount : 0)
    return (form.firstCount + (form.positions == nil ? 0 : positions)) * inputs[0].channels
  }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    let (channels, grid) = (inputs[0].channels, inputs[0])
    var first: [Float] = []
    for (name, count) in form.first { first += try weights.tensor(name, shape: [1, count, channels]) }
    var positions: [Float]?
    if let name = form.positions {
      let prefix = form.embedsFirst ? form.firstCount : 0
      var values = try weights.positions(name, grid, prefix: prefix)
      for i in 0..<prefix * channels { first[i] += values[i] }
      values.removeFirst(prefix * channels)
      positions = values
    }
    let (kernels, output) = (weights.kernels, Layout(outputShape(inputs), kernels: weights.kernels))
    let firstCount = form.firstCount * output.pixelStride
    let added = Self.rows(first + (positions ?? []), channels: channels, stride: output.pixelStride)
    let hasPositions = positions != nil
    return PlainOperation(output, kernels) { inputs, output, _ in
      let input = inputs[0]
      precondition(
        input.pixelStride == output.pixelStride, "a map of \(input.shape) with stride \(input.pixelStride)")
      let count = input.shape.pixelCount * input.pixelStride
      output.pointer.update(from: added.pointer, count: firstCount)
      (output.pointer + firstCount).update(from: input.pointer, count: count)
      guard hasPositions else { return }
      kernels.addRows(
        RowSum(
          sums: output.pointer + firstCount, matrix: UnsafePointer(added.pointer + firstCount), rowCount: 1,
          columnCount: count, rowStride: count))
    } backward: { gradient, input, _, _ in
      input.target.pointer.update(
        from: gradient.pointer + firstCount, count: input.target.shape.pixelCount * input.target.pixelStride)
    }
  }

  /// Values `[rows, channels]` in rows of a stride.
  private static func rows(_ values: [Float], channels: Int, stride: Int) -> AlignedBuffer {
    let rows = AlignedBuffer(count: values.count / channels * stride)
    for row in 0..<values.count / channels {
      (rows.pointer + row * stride).update(
        from: Array(values[row * channels..<(row + 1) * channels]), count: channels)
    }
    return rows
  }
}

extension NetworkWeights {
  /// Positions of a grid, resampled from those of another square where the file has such, as timm's `resample_abs_pos_embed`
  /// does: bicubic, with antialiasing.
  ///
  /// - Parameter prefix: Positions of tokens before the grid's.
  fileprivate func positions(_ name: String, _ grid: FeatureShape, prefix: Int) throws(DermaFusionError)
    -> [Float]
  {
    let channels = grid.channels
    let stored = file.tensors.first { $0.name == name }?.shape ?? []
    var side = grid.height
    if stored.count == 3, stored[0] == 1, stored[1] > prefix, stored[2] == channels {
      let root = Int(Double(stored[1] - prefix).squareRoot())
      if root * root == stored[1] - prefix { side = root }
    }
    let isSame = side == grid.height && side == grid.width
    let count = isSame ? grid.pixelCount : side * side
    let values = try tensor(name, shape: [1, prefix + count, channels])
    if isSame { return values }
    let (rows, columns) = (
      Self.bicubicWeights(from: side, to: grid.height), Self.bicubicWeights(from: side, to: grid.width)
    )
    var result = Array(values[..<(prefix * channels)])
    for row in rows {
      // One row of the result's height, as wide as the source.
      var line = [Double](repeating: 0, count: side * channels)
      for (place, weight) in row {
        for i in line.indices { line[i] += weight * Double(values[(prefix + place * side) * channels + i]) }
      }
      for column in columns {
        for channel in 0..<channels {
          result.append(Float(column.reduce(0) { $0 + $1.weight * line[$1.place * channels + channel] }))
        }
      }
    }
    return result
  }

  /// The source's places under the filter of each of the result's, as PyTorch's `interpolate` with `antialias` has them:
  /// Keys' cubic with a = -0.5, widened where the result is smaller.
  static func bicubicWeights(from: Int, to: Int) -> [[(place: Int, weight: Double)]] {
    let scale = Double(from) / Double(to)
    let width = max(scale, 1)
    return (0..<to).map { index in
      let centre = (Double(index) + 0.5) * scale
      let places = max(Int(centre - 2 * width + 0.5), 0)..<min(Int(centre + 2 * width + 0.5), from)
      let weights = places.map { place in
        let x = abs((Double(place) - centre + 0.5) / width)
        return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0
      }
      let sum = weights.reduce(0, +)
      return zip(places, weights).map { (place: $0, weight: $1 / sum) }
    }
  }
}
