import DermaFusion
import Files
import ImagePipeline
import KernelInterface
import NetworkModule
import SystemModule
import TensorModule

/// Times a model on this machine: its preprocessing and its network, and, on request, each step of the network and the
/// activation maps.
package struct Benchmark: Sendable {
  /// The result of the timing.
  package struct Report: Sendable {
    /// The model that was timed.
    package let model: ModelIdentity
    /// Threads that shared each layer's work.
    package let threadCount: Int
    /// The kernels in use.
    package let instructionSet: String
    /// Milliseconds of the network for one image, ascending, from the normalised image to the logits.
    package let latencies: [Double]
    /// Milliseconds from the pixels of a 600x450 photograph to the network's input, ascending.
    package let preprocessing: [Double]
    /// Multiply-adds of one run; a floating-point operation is half of one.
    package let multiplyAdds: Int
    /// The speed of one thread of this machine in multiply-adds that wait for nothing, in GFLOP/s.
    package let peak: Double
    /// The steps of a run in order, each with its least milliseconds; empty unless a profile was asked for.
    package let profile: [(step: NetworkStep, milliseconds: Double)]
    /// The cost of activation maps; empty if none was timed.
    package let maps: [MapTiming]
    /// For numbers of threads that this machine may not have; empty unless forecasts were asked for.
    package let forecasts: [Forecast]
  }

  /// The time that some threads would take: of each task alone, of what lies outside of regions, and the imbalance.
  package struct Forecast: Sendable {
    package let threadCount: Int
    package let milliseconds: Double
    /// The regions of a pass: each costs the threads some microseconds more, which are not in the time.
    package let regionCount: Int
  }

  /// The cost of a map of one class by one method at one layer.
  package struct MapTiming: Sendable {
    /// The way the map is made.
    package let method: ActivationMapMethod
    /// `conv_head`, or `stage0` ... for the end of a stage.
    package let layer: String
    /// From the normalised image to the map that can be shown, the forward pass included: the least of the runs.
    package let milliseconds: Double
    /// The same in forward passes to the logits, timed in turn with it, of which the least counts too.
    package let forwardPasses: Double
  }

  private let model: Model
  private let folder: ModelFolder
  private var network: Network { model.network }

  /// Loads a model from its folder; the parameters are those of ``DermaFusion/Model/init(directory:threadCount:precision:)``.
  package init(directory: String, threadCount: Int?, precision: Precision?) throws(DermaFusionError) {
    folder = try Model.folder(directory: directory, precision: precision)
    model = try Model(folder, threadCount: threadCount)
  }

  /// Runs everything a few times unmeasured, then `runCount` times measured.
  package func run(
    runCount: Int, profiles: Bool, timesMaps: Bool, forecasts: Bool
  ) throws -> Report {
    let photograph = Self.photograph()
    let image = try model.preprocessor(photograph)
    let metadata = PatientMetadata.unknown.encoded()
    for _ in 0..<3 { _ = timedRun(image: image, metadata: metadata) }
    let latencies = (0..<runCount).map { _ in timedRun(image: image, metadata: metadata) }
    let room = UnsafeMutablePointer<Float>.allocate(capacity: network.inputSize * network.inputSize * 3)
    defer { room.deallocate() }
    let preprocessing = try (0..<runCount).map { _ in
      try timed { _ in try model.preprocessor(photograph).writeNormalizedNHWC(to: room) }
    }
    let steps = profile(runCount: profiles ? runCount : 1, image: image, metadata: metadata)
    return Report(
      model: model.identity, threadCount: network.pool.threadCount,
      instructionSet: network.kernels.instructionSet.rawValue, latencies: latencies.sorted(),
      preprocessing: preprocessing.sorted(),
      multiplyAdds: steps.reduce(0) { $0 + $1.step.multiplyAdds }, peak: Self.peak(network.kernels),
      profile: profiles ? steps : [],
      maps: timesMaps ? try mapTimings(runCount: runCount, image: image, metadata: metadata) : [],
      forecasts: forecasts ? try makeForecasts(runCount: runCount, image: image, metadata: metadata) : [])
  }

  /// For each number of threads the network is made anew, which cuts its work for them.
  private func makeForecasts(
    runCount: Int, image: PreprocessedImage, metadata: MetadataVector
  ) throws -> [Forecast] {
    try [1, 2, 4, 8, 16].map { threadCount in
      let times = TaskTimes()
      let model = try Model(folder, pool: ThreadPool(threadCount: threadCount, times: times))
      for _ in 0..<runCount {
        Self.run(model.network, image: image, metadata: metadata, begin: { times.begin() })
        times.end()
      }
      let forecast = times.forecast(threadCount: threadCount)
      return Forecast(
        threadCount: threadCount, milliseconds: forecast.milliseconds, regionCount: forecast.regionCount)
    }
  }

  private func profile(
    runCount: Int, image: PreprocessedImage, metadata: MetadataVector
  ) -> [(step: NetworkStep, milliseconds: Double)] {
    var least: [(step: NetworkStep, milliseconds: Double)] = []
    for run in 0..<runCount {
      var index = 0
      _ = network.run(
        metadata: metadata, writeInput: { image.writeNormalizedNHWC(to: $0) },
        time: { step, milliseconds in
          if run == 0 {
            least.append((step, milliseconds))
          } else {
            least[index].milliseconds = min(least[index].milliseconds, milliseconds)
          }
          index += 1
        })
    }
    return least
  }

  /// The best of several tries of some milliseconds each, for something else may be running.
  private static func peak(_ kernels: KernelSet) -> Double {
    (0..<20).map { _ in
      let start = ContinuousClock.now
      let operations = kernels.peakProbe(500_000)
      return Double(operations) / ((ContinuousClock.now - start) / .nanoseconds(1))
    }.max() ?? 0
  }

  /// A dark spot on a bright ground, with some texture: what the pipeline sees, without a photograph.
  package static func photograph() -> PixelImage {
    let (width, height) = (600, 450)
    var pixels = [UInt8]()
    pixels.reserveCapacity(width * height * 3)
    for y in 0..<height {
      for x in 0..<width {
        let (dx, dy) = (x - width / 2, y - height / 2)
        let isInside = dx * dx + dy * dy < 120 * 120
        let texture = (x * 31 + y * 17 + x * y) % 23
        pixels.append(UInt8((isInside ? 110 : 215) + texture))
        pixels.append(UInt8((isInside ? 70 : 165) + texture))
        pixels.append(UInt8((isInside ? 55 : 150) + texture))
      }
    }
    return PixelImage(width: width, height: height, pixels: pixels)
  }
}

extension [Double] {
  /// The value below which so many hundredths of the ascending values lie, by the nearest rank.
  package func percentile(_ hundredths: Int) -> Double {
    precondition(!isEmpty && (1...100).contains(hundredths), "percentile \(hundredths) of \(count) values")
    return self[(count * hundredths + 99) / 100 - 1]
  }
}

// MARK: - Activation maps

extension Benchmark {
  /// Times every method at the last feature map and at the end of every stage.
  private func mapTimings(runCount: Int, image: PreprocessedImage, metadata: MetadataVector) throws
    -> [MapTiming]
  {
    var timings: [MapTiming] = []
    let last = try network.layerName(nil)
    var layers = Array(network.stageNames.reversed())
    // Behind the last stage, some networks have one more.
    if try network.layerName(layers[0]) != last { layers.insert(last, at: 0) }
    for layer in layers {
      var forward = Double.infinity
      var maps = [Double](repeating: .infinity, count: ActivationMapMethod.allCases.count)
      // The first time weights are packed and memory is new.
      for run in -1..<runCount {
        let pass = timedRun(image: image, metadata: metadata)
        if run >= 0 { forward = min(forward, pass) }
        for (index, method) in ActivationMapMethod.allCases.enumerated() {
          let whole = try timed { begin in
            try makeMap(method, layer: layer, image: image, metadata: metadata, begin: begin)
          }
          if run >= 0 { maps[index] = min(maps[index], whole) }
        }
      }
      timings += ActivationMapMethod.allCases.enumerated().map { index, method in
        MapTiming(
          method: method, layer: layer, milliseconds: maps[index], forwardPasses: maps[index] / forward)
      }
    }
    return timings
  }

  /// As ``Classifier/activationMap(of:metadata:label:method:layer:)`` does it.
  private func makeMap(
    _ method: ActivationMapMethod, layer: String, image: PreprocessedImage, metadata: MetadataVector,
    begin: () -> Void
  ) throws {
    let layer = try network.layerName(layer)
    // Any output costs the same, and the first is there in every network.
    let run = network.runWithGradients(
      layer: layer, metadata: metadata, needsGradients: method.usesGradient, classes: [0],
      writeInput: {
        image.writeNormalizedNHWC(to: $0)
        begin()
      })
    _ = try ActivationMap(
      classIndex: 0, method: method, layer: layer, activations: run.activations,
      gradient: run.gradients.first, size: network.inputSize)
  }

  /// Milliseconds of the network. The input is written outside of the time: it belongs to the preprocessing.
  private func timedRun(image: PreprocessedImage, metadata: MetadataVector) -> Double {
    timed { begin in Self.run(network, image: image, metadata: metadata, begin: begin) }
  }

  /// - Parameter begin: Is called when the input is written.
  private static func run(
    _ network: Network, image: PreprocessedImage, metadata: MetadataVector, begin: () -> Void
  ) {
    _ = network.run(
      metadata: metadata,
      writeInput: {
        image.writeNormalizedNHWC(to: $0)
        begin()
      })
  }

  /// Milliseconds of the body; from the call of `begin`, if it calls that.
  private func timed(_ body: (_ begin: () -> Void) throws -> Void) rethrows -> Double {
    var start = ContinuousClock.now
    try body { start = ContinuousClock.now }
    return (ContinuousClock.now - start) / .milliseconds(1)
  }
}

// MARK: - Speed

extension Benchmark.Report {
  /// GFLOP/s of a run of the median latency.
  package var speed: Double { speed(multiplyAdds: multiplyAdds, milliseconds: latencies.percentile(50)) }

  /// GFLOP/s of a step.
  package func speed(multiplyAdds: Int, milliseconds: Double) -> Double {
    Double(multiplyAdds) * 2 / (milliseconds * 1e6)
  }

  /// The share of what all threads at their peak would reach, in hundredths.
  package func shareOfPeak(_ speed: Double) -> Double {
    speed / (peak * Double(threadCount)) * 100
  }
}

extension NetworkStep {
  /// `[24, 24, 160] > [24, 24, 960]`
  package var shapes: String {
    [input, output].compactMap { $0?.description }.joined(separator: " > ")
  }
}
