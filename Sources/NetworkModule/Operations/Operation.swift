import Files
import KernelInterface
import SystemModule
import TensorModule

/// An operation of a network: it makes one value of others.
///
/// It says what it can by itself. What follows from several operations is derived: memory, fusion, the backward pass,
/// receptive fields, the profile.
package protocol Operation: AnyObject, Sendable {
  /// timm's name of the layer, whose tensors' names begin with it; empty without weights.
  var name: String { get }
  /// Its computation, in short: `convolution 3x3 / 2`.
  var title: String { get }
  /// The window that slides over the first input; nil: an output pixel looks at one input pixel, or at all.
  var window: Window? { get }
  /// The precisions that it can be computed in.
  var precisions: [Precision] { get }
  func outputShape(_ inputs: [FeatureShape]) -> FeatureShape
  func multiplyAdds(_ inputs: [FeatureShape]) -> Int
  /// Numbers that training set; running statistics and steps of levels are none.
  func parameterCount(_ inputs: [FeatureShape]) -> Int
  /// Binds and packs the weights.
  ///
  /// - Throws: `DermaFusionError` for a tensor that is missing, misshapen or not finite.
  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation
}

extension Operation {
  package var name: String { "" }
  package var window: Window? { nil }
  package var precisions: [Precision] { Precision.allCases }
  package func outputShape(_ inputs: [FeatureShape]) -> FeatureShape { inputs[0] }
  package func multiplyAdds(_ inputs: [FeatureShape]) -> Int { 0 }
  package func parameterCount(_ inputs: [FeatureShape]) -> Int { 0 }
}

/// An operation whose weights are packed. It is immutable.
package protocol PreparedOperation: AnyObject, Sendable {
  /// The layout of its output.
  var output: Layout { get }
  /// Floats of scratch memory.
  var scratchCount: Int { get }
  /// True if ``run(_:into:in:)`` writes the masks that it has room for. Otherwise the caller writes the output's.
  var writesMasks: Bool { get }

  func run(_ inputs: [Stored], into output: Stored, in run: Run)

  /// Packs the weights for the backward pass, as floats, whatever the forward pass multiplies.
  ///
  /// - Parameter producers: The operations that make its inputs; nil for the image.
  /// - Returns: nil where the output stands for the first input: a rounding, or factors that the operation after it takes.
  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)?
}

extension PreparedOperation {
  package var scratchCount: Int { 0 }
  package var writesMasks: Bool { false }
  package func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { nil }
}

/// The gradient of an operation with respect to its first input. The last input is added to the sums where
/// ``addsLastInput``: its gradient is that of the sums. Where ``joinsLastInput`` it has a gradient of its own.
package protocol OperationGradient: AnyObject, Sendable {
  /// Applied last in the operation. ``backward(_:to:state:in:)`` gets the gradient of what it was applied to.
  var activation: Activation { get }
  var addsLastInput: Bool { get }
  /// True if ``backwardToLast(_:to:in:)`` gives the gradient of the last input.
  var joinsLastInput: Bool { get }
  /// True if the backward pass looks at the values of the first input.
  var readsInput: Bool { get }
  /// True if ``recompute(_:into:activated:state:in:)`` also writes the means of its channels, for a gate.
  var writesMeans: Bool { get }
  /// Floats that are kept from ``recompute(_:into:activated:state:in:)`` to the backward pass.
  var stateCount: Int { get }
  /// Floats of the masks within the operation, with which the backward pass needs no state; nil if it needs one.
  var innerMaskCount: Int? { get }
  /// True if the forward pass can keep what ``recompute(_:into:activated:state:in:)`` would compute again.
  var keepsValues: Bool { get }
  /// Floats of scratch memory.
  var scratchCount: Int { get }

  /// Computes the operation again, for what its own backward pass and those of its neighbours look at.
  ///
  /// - Parameters:
  ///   - argument: The input of the activation, or its output if it is idempotent. With ``writesMeans`` the means follow.
  ///   - activated: The output of the activation; nil where nobody reads it.
  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run)

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run)

  func backwardToLast(_ gradient: FeatureMap, to input: InputGradient, in run: Run)
}

extension OperationGradient {
  package var activation: Activation { .identity }
  package var addsLastInput: Bool { false }
  package var joinsLastInput: Bool { false }
  var leadsToLastInput: Bool { addsLastInput || joinsLastInput }
  package var readsInput: Bool { false }
  package var writesMeans: Bool { false }
  package var stateCount: Int { 0 }
  package var innerMaskCount: Int? { stateCount == 0 ? 0 : nil }
  package var keepsValues: Bool { false }
  package var scratchCount: Int { 0 }

  package func backwardToLast(_ gradient: FeatureMap, to input: InputGradient, in run: Run) {
    preconditionFailure("an operation without a gradient of its last input")
  }
}

/// A prepared operation that packs nothing anew for the backward pass: a function for each direction.
final class PlainOperation: PreparedOperation, OperationGradient {
  typealias Forward = @Sendable (_ inputs: [FeatureMap], _ output: FeatureMap, _ run: Run) -> Void
  /// Writes an input's target, which is then finished.
  typealias Backward =
    @Sendable (
      _ gradient: FeatureMap, _ input: InputGradient, _ state: UnsafeMutablePointer<Float>, _ run: Run
    ) ->
    Void
  typealias BackwardToLast = @Sendable (_ gradient: FeatureMap, _ input: InputGradient, _ run: Run) -> Void

  let output: Layout
  let scratchCount: Int
  let stateCount: Int
  private let kernels: KernelSet
  private let forward: Forward
  private let toFirst: Backward
  private let toLast: BackwardToLast?

  /// - Parameters:
  ///   - stateCount: Floats for ``InputGradient/activated(state:_:kernels:pool:)``; 0 if the backward pass does not look at
  ///     the input's values.
  ///   - backwardToLast: Nil for an operation of one input.
  init(
    _ output: Layout, _ kernels: KernelSet, scratchCount: Int = 0, stateCount: Int = 0,
    forward: @escaping Forward,
    backward: @escaping Backward, backwardToLast: BackwardToLast? = nil
  ) {
    self.output = output
    self.kernels = kernels
    self.scratchCount = scratchCount
    self.stateCount = stateCount
    self.forward = forward
    (toFirst, toLast) = (backward, backwardToLast)
  }

  var readsInput: Bool { stateCount > 0 }
  var joinsLastInput: Bool { toLast != nil }

  func run(_ inputs: [Stored], into output: Stored, in run: Run) {
    forward(inputs.map { $0.map }, output.map, run)
  }

  func makeGradient(_ producers: [(any PreparedOperation)?]) -> (any OperationGradient)? { self }

  func recompute(
    _ inputs: [FeatureMap], into argument: FeatureMap, activated: FeatureMap?,
    state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    forward(inputs, argument, run)
  }

  func backward(
    _ gradient: FeatureMap, to input: InputGradient, state: UnsafeMutablePointer<Float>, in run: Run
  ) {
    toFirst(gradient, input, state, run)
    input.finish(kernels: kernels, pool: run.pool)
  }

  func backwardToLast(_ gradient: FeatureMap, to input: InputGradient, in run: Run) {
    toLast?(gradient, input, run)
    input.finish(kernels: kernels, pool: run.pool)
  }
}

/// The gradient of an input in the making.
package struct InputGradient {
  /// Overwritten.
  let target: FeatureMap
  /// The contributions of other operations, to be added, or nil. Of the target's shape and stride.
  let residual: FeatureMap?
  /// The input's own activation, for the last contribution: the target is then the gradient at its argument.
  let below: ActivationBelow?
  /// The input's values: its activation and what that was applied to. Nil where nobody asked for them.
  let values: ActivationBelow?

  /// The input's values, for an operation whose backward pass reads them.
  ///
  /// - Parameter state: As many floats as the input has, where only the argument of its activation is kept.
  func activated(
    state: UnsafeMutablePointer<Float>, _ layout: Layout, kernels: KernelSet, pool: ThreadPool
  ) -> FeatureMap {
    guard let values else { preconditionFailure("a gradient without the input's values") }
    if values.activation.isIdempotent { return values.arguments }
    let map = Stored(pointer: state, layout: layout).map
    map.activate(values.activation, of: values.arguments, kernels: kernels, pool: pool)
    return map
  }

  /// Adds the residual and leads the gradient through the activation, for an operation that does not on the way.
  func finish(kernels: KernelSet, pool: ThreadPool) {
    if let residual { target.add(residual, kernels: kernels, pool: pool) }
    below?.apply(to: target, kernels: kernels, pool: pool)
  }
}

/// The surroundings of an operation's run.
package struct Run {
  /// As many floats as it asks for.
  let scratch: UnsafeMutablePointer<Float>
  /// Nil where nothing is to be kept.
  var kept: Kept?
  let pool: ThreadPool
}

/// The memory for what a forward pass keeps of an operation for the backward pass.
package enum Kept {
  /// The ``GradientMask`` of the output, which has this activation, then those within the operation.
  case mask(Activation, UnsafeMutablePointer<Float>)
  /// The argument of the output's activation, and the state.
  case values(Stored, state: UnsafeMutablePointer<Float>)
}

/// The layout of a value in memory: rows of channels, one for each pixel, padded to whole vectors.
package struct Layout: Sendable, Equatable {
  package let shape: FeatureShape
  /// The type of the words: floats, or what a product of another type reads.
  let type: ElementType
  /// Words from one pixel to the next.
  let pixelStride: Int
  /// Rows of sums of channels behind the map, for a gate: one for each band of the map's rows.
  let sumRowCount: Int

  package init(_ shape: FeatureShape, type: ElementType = .float32, sumRowCount: Int = 0, kernels: KernelSet)
  {
    self.shape = shape
    self.type = type
    self.sumRowCount = sumRowCount
    pixelStride =
      type == .float32
      ? kernels.padded(shape.channels)
      : PackedMap.wordCount(shape.channels, type, kernels: kernels)
  }

  /// The image: dense.
  init(image: FeatureShape) {
    shape = image
    type = .float32
    pixelStride = image.channels
    sumRowCount = 0
  }

  /// Words of the map and of the sums.
  var count: Int { mapCount + sumRowCount * pixelStride }
  var mapCount: Int { shape.pixelCount * pixelStride }
}

/// A value in memory.
package struct Stored {
  let pointer: UnsafeMutablePointer<Float>
  let layout: Layout

  package var map: FeatureMap {
    precondition(layout.type == .float32, "words of \(layout.type.rawValue) read as floats")
    return FeatureMap(pointer, shape: layout.shape, pixelStride: layout.pixelStride)
  }

  func words(_ kernels: KernelSet) -> PackedMap {
    PackedMap(pointer, layout.shape, layout.type, kernels: kernels)
  }

  /// True if the channels' padding holds anything but 0, and one half, which a sigmoid makes of 0. It would reach sums over
  /// the channels, and a NaN every product.
  var hasStrayValues: Bool {
    if layout.type != .float32 { return false }
    for pixel in 0..<layout.shape.pixelCount {
      let values = pointer + pixel * layout.pixelStride
      for channel in layout.shape.channels..<layout.pixelStride
      where values[channel] != 0 && values[channel] != 0.5 {
        return true
      }
    }
    return false
  }

  /// `[sumRowCount, padded channels]`; nil without any.
  var sums: UnsafeMutablePointer<Float>? { layout.sumRowCount == 0 ? nil : pointer + layout.mapCount }
}

/// The parts of a product: its weight, what is folded into it and what follows it in the kernels' epilogue.
struct Product: Sendable, Equatable {
  /// The form of the products.
  enum Arithmetic: Sendable, Equatable {
    case float32
    case bfloat16
    /// In a network of 8 bits, floats whose sums are exact.
    case grid(ExactGrid)
    /// Levels of 8 bits.
    case int8
  }

  /// timm's name of the layer.
  let name: String
  /// Channels of the output.
  let channels: Int
  var hasBias: Bool
  var norm: Norm?
  var activation = Activation.identity
  var arithmetic = Arithmetic.float32
  /// True if timm keeps it as a dense layer, whose weight has two dimensions, and not as a 1x1 convolution.
  var isDense = false

  /// A batch norm behind a product, or a layer scale, which is its factors alone.
  struct Norm: Sendable, Equatable {
    let name: String
    /// Nil for a layer scale.
    let epsilon: Double?
  }

  /// - Parameter weights: The number for each output.
  func parameterCount(weights: Int) -> Int {
    channels * (weights + (hasBias ? 1 : 0) + (norm.map { $0.epsilon == nil ? 1 : 2 } ?? 0))
  }

  /// In 8 bits the file has a bias in the place of the norm.
  mutating func quantize() {
    (arithmetic, norm, hasBias) = (.int8, nil, true)
  }

  /// The packed weight's.
  var type: ElementType { arithmetic == .bfloat16 ? .bfloat16 : .float32 }
}
