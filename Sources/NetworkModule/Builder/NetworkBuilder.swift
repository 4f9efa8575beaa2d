import Files
import KernelInterface
import SystemModule
import TensorModule

/// A value of a network: the image, or what an operation makes.
package struct Value: Sendable, Equatable, Hashable {
  /// Among the network's operations, the image's being the first.
  package let index: Int
}

/// Operations in the order in which they run.
package struct OperationList: Sendable {
  /// An operation with its place.
  package struct Node: Sendable {
    package let operation: any Operation
    package let inputs: [Value]
    package let shape: FeatureShape
    /// The operations that became parts of this one.
    package var parts: [any Operation] = []
  }

  /// A value that one may look at.
  package struct Mark: Sendable, Equatable {
    /// timm's name of the block or the layer that makes it.
    package let name: String
    package let value: Value
    /// The stage that it belongs to, from 0; nil before the first and after the last.
    package let stage: Int?
    /// True if not all ways to the end lead through the value: a norm beside a shortcut.
    package var isBranch = false
    /// The extent of the grid, of a value of tokens, whose last rows it is; nil: the value is a map.
    package var grid: FeatureShape?

    /// The value as a map.
    func map(_ value: FeatureMap) -> FeatureMap {
      guard let grid else { return value }
      let first = value.shape.pixelCount - grid.pixelCount
      let shape = FeatureShape(height: grid.height, width: grid.width, channels: value.shape.channels)
      return FeatureMap(
        value.pointer + first * value.pixelStride, shape: shape, pixelStride: value.pixelStride)
    }
  }

  /// Each at its value's index; nil for the image and for what became a part of another.
  package private(set) var nodes: [Node?] = [nil]
  private var order: [Value] = []
  package let image: FeatureShape
  package var marks: [Mark] = []
  /// The vector that the head takes.
  package var pooled: Value?

  init(image: FeatureShape) { self.image = image }

  package func shape(_ value: Value) -> FeatureShape { nodes[value.index]?.shape ?? image }
  package func shapes(_ node: Node) -> [FeatureShape] { node.inputs.map(shape) }

  /// The operations that are left, each with its value.
  package var operations: [(value: Value, node: Node)] {
    order.compactMap { value in nodes[value.index].map { (value, $0) } }
  }

  /// - Parameters:
  ///   - next: The value whose operation it comes before.
  ///   - last: The value whose operation it comes after. Without either it is the last.
  package mutating func insert(
    _ operation: any Operation, _ inputs: [Value], before next: Value? = nil, after last: Value? = nil
  ) -> Value {
    let value = Value(index: nodes.count)
    nodes.append(nil)
    set(value, operation, inputs)
    let place =
      next.flatMap { order.firstIndex(of: $0) } ?? last.flatMap { order.firstIndex(of: $0) }.map { $0 + 1 }
    order.insert(value, at: place ?? order.count)
    return value
  }

  /// Puts an operation in a value's place; nil: it has none any more.
  ///
  /// - Parameter parts: The operations that became a part of it.
  package mutating func set(
    _ value: Value, _ operation: (any Operation)?, _ inputs: [Value] = [], parts: [any Operation] = []
  ) {
    nodes[value.index] = operation.map {
      Node(operation: $0, inputs: inputs, shape: $0.outputShape(inputs.map(shape)), parts: parts)
    }
  }

  /// The marks that the stages end with.
  package var stageEnds: [Int] {
    let ends = marks.indices.filter { !marks[$0].isBranch }
    return zip(ends, ends.dropFirst().map { marks[$0].stage } + [nil]).filter { end, next in
      marks[end].stage != nil && marks[end].stage != next
    }.map { $0.0 }
  }

  /// True if all operations can be computed in a precision, and it is not the same as in floats.
  package func supports(_ precision: Precision) -> Bool {
    operations.allSatisfy { $0.node.operation.precisions.contains(precision) }
      && (precision != .bfloat16
        || operations.contains { ($0.node.operation as? Convolution)?.form.isLinear == true })
  }
}

/// The builder that a family of networks is written with: each call appends an operation and gives its value.
///
/// Padding, norm, bias and activation belong to the call. Names are timm's.
package struct NetworkBuilder {
  package private(set) var list: OperationList
  /// The padding in the model's configuration.
  let padding: ModelConfiguration.Padding
  let normEpsilon: Double
  /// The pooling that makes a vector of the last map, where a family knows several.
  let pooling: ModelConfiguration.Pooling
  /// A layer between the pooling and the classifier.
  var hidden: Hidden?
  /// timm's name of the last layer, where there is no fusion head in its place.
  var classifier = "classifier"

  /// A dense layer that timm keeps as a 1x1 convolution with a bias.
  package struct Hidden: Sendable, Equatable {
    package let name: String
    package let channels: Int
    package let activation: Activation
  }

  package init(
    size: Int, padding: ModelConfiguration.Padding = .symmetric, normEpsilon: Double = 1e-5,
    pooling: ModelConfiguration.Pooling = .average
  ) {
    list = OperationList(image: FeatureShape(height: size, width: size, channels: 3))
    self.padding = padding
    self.normEpsilon = normEpsilon
    self.pooling = pooling
  }

  /// The normalised image.
  package var image: Value { Value(index: 0) }

  package func shape(_ value: Value) -> FeatureShape { list.shape(value) }

  /// A convolution over all channels.
  ///
  /// - Parameters:
  ///   - name: The weight's.
  ///   - padding: Nil: as the model's configuration says.
  ///   - norm: The batch norm after it, or nil.
  ///   - bias: True if the layer has one of its own.
  package mutating func convolution(
    _ name: String, _ x: Value, kernel: Int, stride: Int = 1, padding: Padding? = nil, groups: Int = 1,
    channels: Int, norm: String? = nil, bias: Bool = false, _ activation: Activation = .identity
  ) -> Value {
    precondition(
      shape(x).channels.isMultiple(of: groups) && channels.isMultiple(of: groups),
      "\(name): \(shape(x)) to \(channels) channels in \(groups) groups")
    let product = Product(name: name, channels: channels, hasBias: bias)
    let form = Convolution.Form(
      product: product, window: window(kernel, stride, padding), groups: groups, readsImage: x == image)
    return finished(list.insert(Convolution(form), [x]), norm, activation)
  }

  /// A convolution of one tap and stride 1.
  package mutating func linear(
    _ name: String, _ x: Value, channels: Int, norm: String? = nil, bias: Bool = false,
    _ activation: Activation = .identity
  ) -> Value {
    convolution(name, x, kernel: 1, channels: channels, norm: norm, bias: bias, activation)
  }

  /// A convolution of each channel on its own.
  package mutating func depthwise(
    _ name: String, _ x: Value, kernel: Int, stride: Int = 1, norm: String? = nil, bias: Bool = false,
    _ activation: Activation = .identity
  ) -> Value {
    let product = Product(name: name, channels: shape(x).channels, hasBias: bias)
    let form = Depthwise.Form(product: product, window: window(kernel, stride))
    return finished(list.insert(Depthwise(form), [x]), norm, activation)
  }

  /// A linear layer that timm keeps as a dense one, with a bias.
  package mutating func dense(
    _ name: String, _ x: Value, channels: Int, bias: Bool = true, _ activation: Activation = .identity
  ) -> Value {
    let product = Product(name: name, channels: channels, hasBias: bias, isDense: true)
    let window = Window(kernelSize: 1, padding: .symmetric(0))
    return finished(
      list.insert(Convolution(.init(product: product, window: window, readsImage: false)), [x]), nil,
      activation)
  }

  package mutating func layerNorm(_ name: String, _ x: Value, epsilon: Double = 1e-6) -> Value {
    list.insert(LayerNorm(name, epsilon: epsilon), [x])
  }

  /// Global response norm.
  package mutating func responseNorm(_ name: String, _ x: Value) -> Value {
    list.insert(ResponseNorm(name), [x])
  }

  /// A layer scale: each channel times a number of the tensor `name`.
  package mutating func scale(_ name: String, _ x: Value) -> Value {
    list.insert(BatchNorm(Product.Norm(name: name, epsilon: nil), channels: shape(x).channels), [x])
  }

  package mutating func batchNorm(_ name: String, _ x: Value) -> Value {
    list.insert(
      BatchNorm(Product.Norm(name: name, epsilon: normEpsilon), channels: shape(x).channels), [x])
  }

  package mutating func activation(_ activation: Activation, _ x: Value) -> Value {
    list.insert(Sum(adds: false, activation), [x])
  }

  package mutating func add(_ x: Value, _ y: Value) -> Value {
    precondition(shape(x) == shape(y), "a sum of \(shape(x)) and \(shape(y))")
    return list.insert(Sum(adds: true), [x, y])
  }

  /// Squeeze-excite: two layers of `name`.
  mutating func gate(
    _ name: String, _ x: Value, layers: Gate.Form.Layers = .convReduce, hidden: Int, _ activation: Activation,
    gate: Activation
  ) -> Value {
    let form = Gate.Form(name: name, layers: layers, hidden: hidden, activation: activation, gate: gate)
    return list.insert(Gate(form), [x])
  }

  /// Multi-head attention of queries, keys and values that lie side by side.
  mutating func selfAttention(_ x: Value, heads: Int, windows: SelfAttention.Windows? = nil) -> Value {
    list.insert(SelfAttention(headCount: heads, windows: windows), [x])
  }

  /// Queries and keys turned by the places of their tokens on a grid.
  mutating func rotaryPositions(
    _ x: Value, heads: Int, firstCount: Int, grid: FeatureShape
  ) -> Value {
    list.insert(
      RotaryPositions(
        .init(headCount: heads, firstCount: firstCount, height: grid.height, width: grid.width)), [x])
  }

  /// A map's pixels as tokens, behind others, with positions added.
  mutating func tokens(
    _ x: Value, first: [(name: String, count: Int)], positions: String?, embedsFirst: Bool
  ) -> Value {
    list.insert(AddTokens(.init(first: first, positions: positions, embedsFirst: embedsFirst)), [x])
  }

  /// Squares of 2x2 pixels side by side in the channels of one.
  mutating func mergePatches(_ x: Value) -> Value { list.insert(MergePatches(), [x]) }

  package mutating func maxPooling(_ x: Value, kernel: Int, stride: Int) -> Value {
    list.insert(MaxPooling(window(kernel, stride)), [x])
  }

  /// The means under windows.
  ///
  /// - Parameter padding: `.same` also takes windows that the input's end cuts, as PyTorch's `ceil_mode` does.
  package mutating func averagePooling(_ x: Value, kernel: Int, stride: Int, padding: Padding) -> Value {
    list.insert(AveragePooling(window(kernel, stride, padding)), [x])
  }

  /// The channels of both, those of `x` first.
  package mutating func concatenate(_ x: Value, _ y: Value) -> Value { list.insert(Concatenation(), [x, y]) }

  /// Names a value that one may look at, and that the backward pass keeps.
  ///
  /// - Parameters:
  ///   - isBranch: True if not all ways to the end lead through it.
  ///   - grid: The extent of the grid that the last tokens are; nil for a map.
  package mutating func mark(
    _ name: String, _ x: Value, stage: Int? = nil, isBranch: Bool = false, grid: FeatureShape? = nil
  ) -> Value {
    list.marks.append(
      OperationList.Mark(name: name, value: x, stage: stage, isBranch: isBranch, grid: grid))
    return x
  }

  /// The mean of each channel.
  ///
  /// - Parameter rows: The pixels or tokens; nil: all of them.
  package mutating func mean(_ x: Value, rows: Range<Int>? = nil) -> Value {
    list.insert(Mean(rows: rows), [x])
  }

  /// Ends the network: the head takes this vector, which any operations make of the last mark.
  package mutating func features(_ x: Value) {
    precondition(shape(x).pixelCount == 1 && !list.marks.isEmpty, "features of the shape \(shape(x))")
    list.pooled = x
  }

  /// Ends the network: the head takes the means of this value, the last mark.
  package mutating func pool(_ x: Value) { features(mean(x)) }

  /// The means of the map that a stage ends with.
  package mutating func meansOfStage(_ stage: Int) -> Value {
    let end = list.marks[list.stageEnds[stage]].value
    // At once, while the map is there.
    return list.insert(Mean(), [end], after: end)
  }

  /// An operation of another kind.
  package mutating func append(_ operation: any Operation, _ inputs: [Value]) -> Value {
    list.insert(operation, inputs)
  }

  private mutating func finished(_ x: Value, _ norm: String?, _ activation: Activation) -> Value {
    let normed = norm.map { batchNorm($0, x) } ?? x
    return activation == .identity ? normed : self.activation(activation, normed)
  }

  private func window(_ kernel: Int, _ stride: Int, _ padding: Padding? = nil) -> Window {
    let usual = self.padding == .same ? Padding.same : .symmetric((kernel - 1) / 2)
    return Window(kernelSize: kernel, stride: stride, padding: padding ?? usual)
  }
}
