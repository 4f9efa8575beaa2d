import KernelInterface
import SystemModule
import TensorModule

/// The operations from one mark to the next, or to the vector that the head takes, for the backward pass: the list in
/// reverse. The forward pass keeps the marks, of ReLU and ReLU6 the masks, and of other values between the marks those that
/// take longer to compute again than to keep.
struct Segment {
  /// Floats of scratch memory.
  private(set) var scratchCount = 0
  /// Floats of what the forward pass keeps between the marks, whole cache lines.
  private(set) var keptCount = 0
  let start: Value
  let end: Value
  private let network: Network
  /// The value whose gradient is wanted: the start, or one on a branch beside the way from there.
  let goal: Value
  private var links: [Link] = []
  private var values: [Value: Between] = [:]
  /// The part of it that one operation at a time works in; it comes last.
  private let operationScratch: Int

  /// An operation with its gradient.
  private struct Link {
    let gradient: any OperationGradient
    /// With what stands for another value replaced by that.
    let inputs: [Value]
    let output: Value
    var state = 0
    /// Multiply-adds of the step.
    let multiplyAdds: Int
    /// False before the goal: computed again only.
    let isBehindGoal: Bool
  }

  /// A value between the marks, or the first mark, with places in the scratch memory.
  private struct Between {
    /// True for the goal and for what depends on it.
    var isBehindGoal: Bool
    var activation = Activation.identity
    var layout: Layout
    /// True if the backward pass or an operation that is computed again looks at it.
    var isNeeded = false
    /// The memory that the forward pass keeps for the backward pass, which looks at nothing else.
    var keeping: Keeping?
    /// True if an operation reads what the activation gives, which is not what it got.
    var isActivated = false
    var argument = 0
    var activated = 0
    var gradient = 0
    /// Contributions to its gradient, which come from the operations that read it, the last first.
    var contributions = 0
    /// For what the first of them contribute.
    var partial: [Int] = []

    /// True if it has to be computed again.
    var isRecomputed: Bool { isNeeded && keeping == nil }
  }

  /// The memory that the forward pass writes.
  private struct Keeping {
    /// True if it is the mask, and those within the operation; otherwise the argument and the state.
    let isMask: Bool
    let offset: Int
  }

  /// - Parameters:
  ///   - start: A mark that all ways to the end lead through.
  ///   - goal: Nil: the start.
  init(of network: Network, from start: Value, to end: Value, goal: Value? = nil) {
    self.network = network
    (self.start, self.end, self.goal) = (start, end, goal ?? start)
    guard let from = network.steps.firstIndex(where: { $0.value == start }),
      let to = network.steps.firstIndex(where: { $0.value == end })
    else { preconditionFailure("a mark that no operation makes") }
    var count = 0
    func reserve(_ floats: Int) -> Int {
      defer { count += floats.roundedUp(toMultipleOf: 16) }
      return count
    }
    let leading = Self.values(leadingTo: end, among: network.steps[(from + 1)...to])
    values[start] = Between(isBehindGoal: goal == nil, layout: network.plan.layouts[start.index])
    var behind: Set<Value> = [goal ?? start]
    var standIns: [Value: Value] = [:]
    for index in from + 1...to {
      let step = network.steps[index]
      guard leading.contains(step.value) else { continue }
      let inputs = step.inputs.map { standIns[$0] ?? $0 }
      guard let gradient = network.gradients.gradient(ofStep: index, of: network) else {
        standIns[step.value] = inputs[0]
        continue
      }
      for input in inputs where values[input] == nil {
        preconditionFailure("\(step.operation.output.shape) is made of a value from before its mark")
      }
      let isBehindGoal = inputs.contains { behind.contains($0) }
      if isBehindGoal { behind.insert(step.value) }
      values[step.value] = Between(
        isBehindGoal: behind.contains(step.value), activation: gradient.activation,
        layout: Layout(
          step.operation.output.shape, sumRowCount: gradient.writesMeans ? 1 : 0, kernels: network.kernels))
      links.append(
        Link(
          gradient: gradient, inputs: inputs, output: step.value,
          multiplyAdds: network.multiplyAdds(step.value), isBehindGoal: isBehindGoal))
    }
    operationScratch = links.reduce(0) { max($0, $1.gradient.scratchCount) }
    findNeeds()
    for index in links.indices where values[links[index].output]!.keeping == nil {
      links[index].state = reserve(links[index].gradient.stateCount)
    }
    for value in [start] + links.map({ $0.output }) {
      var between = values[value]!
      let size = between.layout.mapCount
      if value != start, between.isRecomputed { between.argument = reserve(between.layout.count) }
      if between.isActivated { between.activated = reserve(size) }
      if value != goal, value != end, between.isBehindGoal { between.gradient = reserve(size) }
      between.partial = (0..<max(min(between.contributions - 1, 2), 0)).map { _ in reserve(size) }
      values[value] = between
    }
    scratchCount = count + operationScratch
  }

  /// Finds what the backward pass looks at: the last operation first, because what it is computed from is needed too.
  private mutating func findNeeds() {
    for link in links.reversed() {
      let isOutputRead = link.output != end && values[link.output]!.isNeeded
      let activation = link.gradient.activation
      let layout = values[link.output]!.layout
      if network.leastKept != nil, link.output != end, !isOutputRead, link.isBehindGoal, activation.hasMask,
        let innerCount = link.gradient.innerMaskCount
      {
        keep(
          link.output, isMask: true, GradientMask.count(layout.shape, kernels: network.kernels) + innerCount)
      } else {
        values[link.output]!.isNeeded =
          link.output == end
          ? !activation.isIdempotent : isOutputRead || link.isBehindGoal && activation != .identity
        let count = layout.count + link.gradient.stateCount
        if let least = network.leastKept, values[link.output]!.isNeeded, !values[link.output]!.isActivated,
          link.gradient.keepsValues, link.multiplyAdds >= least * count
        {
          keep(link.output, isMask: false, count)
        }
      }
      let isComputed = values[link.output]!.isRecomputed
      let (main, last) = (link.inputs[0], link.inputs[link.inputs.count - 1])
      if values[main]!.isBehindGoal {
        values[main]!.contributions += 1
        if link.gradient.readsInput { values[main]!.isNeeded = true }
      }
      if link.gradient.leadsToLastInput, values[last]!.isBehindGoal { values[last]!.contributions += 1 }
      if isComputed {
        for input in link.inputs {
          values[input]!.isNeeded = true
          if !values[input]!.activation.isIdempotent { values[input]!.isActivated = true }
        }
      }
    }
  }

  private mutating func keep(_ value: Value, isMask: Bool, _ count: Int) {
    values[value]!.keeping = Keeping(isMask: isMask, offset: keptCount)
    keptCount += count.roundedUp(toMultipleOf: 16)
  }

  /// Views memory as what the forward pass keeps.
  ///
  /// - Parameter pointer: ``keptCount`` floats.
  func keeping(at pointer: UnsafeMutablePointer<Float>) -> [Value: Kept] {
    var kept: [Value: Kept] = [:]
    for (value, between) in values {
      guard let keeping = between.keeping else { continue }
      let place = pointer + keeping.offset
      kept[value] =
        keeping.isMask
        ? .mask(between.activation, place)
        : .values(Stored(pointer: place, layout: between.layout), state: place + between.layout.count)
    }
    return kept
  }

  /// The values that the last of some steps is made of, and itself.
  private static func values(leadingTo end: Value, among steps: ArraySlice<Step>) -> Set<Value> {
    var leading: Set<Value> = [end]
    for step in steps.reversed() {
      if leading.contains(step.value) { leading.formUnion(step.inputs) }
    }
    return leading
  }

  /// Leads the gradients of one or more logits from the segment's end to its goal.
  ///
  /// - Parameters:
  ///   - gradients: With respect to the output. They are overwritten.
  ///   - targets: As many, overwritten.
  ///   - kept: All that ``keeping(at:)`` gave, and perhaps others.
  ///   - scratch: ``scratchCount`` floats.
  func backward(
    from gradients: [FeatureMap], to targets: [FeatureMap], input: FeatureMap, output: FeatureMap,
    kept: [Value: Kept], scratch: UnsafeMutablePointer<Float>
  ) {
    let pass = Pass(segment: self, input: input, output: output, kept: kept, scratch: scratch)
    pass.recompute()
    for (gradient, target) in zip(gradients, targets) { pass.lead(gradient, to: target) }
  }

  /// A backward pass and the memory that it works in.
  private struct Pass {
    let segment: Segment
    let input: FeatureMap
    let output: FeatureMap
    let kept: [Value: Kept]
    let scratch: UnsafeMutablePointer<Float>
    private var network: Network { segment.network }
    private var run: Run {
      Run(scratch: scratch + (segment.scratchCount - segment.operationScratch), pool: network.pool)
    }

    private subscript(_ value: Value) -> Between { segment.values[value]! }

    private func map(_ value: Value, _ offset: Int) -> FeatureMap {
      Stored(pointer: scratch + offset, layout: self[value].layout).map
    }

    /// The argument of a value's activation.
    private func argument(_ value: Value) -> FeatureMap {
      if value == segment.start { return input }
      if case .values(let argument, _) = kept[value] { return argument.map }
      return value == segment.end && !self[value].isNeeded ? output : map(value, self[value].argument)
    }

    private func state(_ link: Link) -> UnsafeMutablePointer<Float> {
      if case .values(_, let state) = kept[link.output] { state } else { scratch + link.state }
    }

    private func activation(_ value: Value) -> ActivationBelow {
      if value != segment.start, case .mask(let activation, let pointer) = kept[value] {
        return ActivationBelow(
          GradientMask(activation, pointer, self[value].layout.shape, kernels: network.kernels))
      }
      return ActivationBelow(self[value].activation, at: argument(value))
    }

    /// Computes what was not kept again.
    func recompute() {
      for link in segment.links where self[link.output].isRecomputed {
        let inputs = link.inputs.map { self[$0].isActivated ? map($0, self[$0].activated) : argument($0) }
        let output = self[link.output]
        link.gradient.recompute(
          inputs, into: argument(link.output),
          activated: output.isActivated ? map(link.output, output.activated) : nil,
          state: state(link), in: run)
      }
    }

    /// Leads a gradient from the segment's end to its goal.
    func lead(_ gradient: FeatureMap, to target: FeatureMap) {
      let (end, goal) = (segment.end, segment.goal)
      var pending: [Value: (map: FeatureMap?, count: Int)] = [:]
      /// The place of the next contribution to a value's gradient.
      func next(_ value: Value) -> InputGradient {
        let between = self[value]
        let (before, count) = pending[value] ?? (nil, 0)
        let isLast = count + 1 == between.contributions
        let place = value == goal ? target : map(value, between.gradient)
        let map = isLast ? place : map(value, between.partial[count % 2])
        pending[value] = (map, count + 1)
        let values = activation(value)
        return InputGradient(
          target: map, residual: before,
          below: isLast && value != goal && between.activation != .identity ? values : nil, values: values)
      }
      if self[end].activation != .identity {
        gradient.applyDerivative(
          of: self[end].activation, at: argument(end), kernels: network.kernels, pool: run.pool)
      }
      for link in segment.links.reversed() where link.isBehindGoal {
        let sums = link.output == end ? gradient : pending[link.output]!.map!
        let last = link.inputs[link.inputs.count - 1]
        if link.gradient.addsLastInput, self[last].isBehindGoal {
          if pending[last] == nil, self[last].contributions > 1 {
            // It is the gradient of the sums as it stands.
            pending[last] = (sums, 1)
          } else {
            let contribution = next(last)
            contribution.target.copy(sums, pool: run.pool)
            contribution.finish(kernels: network.kernels, pool: run.pool)
          }
        }
        if link.gradient.joinsLastInput, self[last].isBehindGoal {
          link.gradient.backwardToLast(sums, to: next(last), in: run)
        }
        if self[link.inputs[0]].isBehindGoal {
          link.gradient.backward(
            sums, to: next(link.inputs[0]), state: state(link),
            in: Run(scratch: run.scratch, kept: kept[link.output], pool: run.pool))
        }
      }
    }
  }
}
