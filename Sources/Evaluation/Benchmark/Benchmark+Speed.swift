import DermaFusion
import NetworkModule

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
  /// What is computed, in short: `expand, depthwise 5x5 / 2`.
  package var title: String {
    switch operation {
    case .convolution(let kernelSize, let stride):
      "convolution \(kernelSize)x\(kernelSize)\(stride == 1 ? "" : " / \(stride)")"
    case .filter(let kernelSize, let stride, let isExpanded):
      "\(isExpanded ? "expand, " : "")depthwise \(kernelSize)x\(kernelSize)\(stride == 1 ? "" : " / \(stride)")"
    case .squeezeExcite: "squeeze-excite"
    case .quantization: "8-bit levels"
    case .maxPooling(let kernelSize, let stride): "max pooling \(kernelSize)x\(kernelSize) / \(stride)"
    case .pooling: "average pooling"
    case .head: "classifier head"
    }
  }

  /// `[24, 24, 160] > [24, 24, 960]`
  package var shapes: String {
    [input, output].compactMap { $0?.description }.joined(separator: " > ")
  }
}
