import DermaFusion
import ImagePipeline
import NetworkModule

extension Benchmark {
  /// Times every method at the last feature map and at the end of every stage.
  func mapTimings(runCount: Int, image: PreprocessedImage, metadata: MetadataVector) throws -> [MapTiming] {
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
        let pass = timed { begin in
          _ = network.run(
            metadata: metadata,
            writeInput: {
              image.writeNormalizedNHWC(to: $0)
              begin()
            })
        }
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
    let index = 0
    let run = network.runWithGradients(
      layer: layer, metadata: metadata, needsGradients: method.usesGradient,
      classes: [index],
      writeInput: {
        image.writeNormalizedNHWC(to: $0)
        begin()
      })
    _ = try ActivationMap(
      classIndex: index, method: method, layer: layer, activations: run.activations,
      gradient: run.gradients.first, size: network.inputSize)
  }

  /// Milliseconds from the call of `begin` to the end of the body.
  private func timed(_ body: (_ begin: () -> Void) throws -> Void) rethrows -> Double {
    var start = ContinuousClock.now
    try body { start = ContinuousClock.now }
    return (ContinuousClock.now - start) / .milliseconds(1)
  }
}
