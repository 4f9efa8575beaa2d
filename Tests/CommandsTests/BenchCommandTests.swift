import TensorModule
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation
@testable import NetworkModule

@Suite struct BenchCommandTests {
  let report = Benchmark.Report(
    model: ModelIdentity(name: "toy", version: "0.0.1", sha256: "abc"), threadCount: 2,
    instructionSet: "baseline", latencies: [10, 20, 40], preprocessing: [1, 2, 3],
    multiplyAdds: 1_000_000_000, peak: 100,
    profile: [
      (
        NetworkStep(
          layer: "blocks.1.0", title: "expand, depthwise 5x5 / 2",
          input: FeatureShape(height: 9, width: 9, channels: 4),
          output: FeatureShape(height: 5, width: 5, channels: 24), multiplyAdds: 50_000_000), 2
      )
    ],
    maps: ["conv_head", "stage6"].flatMap { layer in
      ActivationMapMethod.allCases.map {
        Benchmark.MapTiming(
          method: $0, layer: layer, milliseconds: 22, forwardPasses: $0 == .eigencam ? 1.046 : 1.1)
      }
    },
    forecasts: [
      Benchmark.Forecast(threadCount: 1, milliseconds: 40, regionCount: 6),
      Benchmark.Forecast(threadCount: 16, milliseconds: 3.125, regionCount: 7),
    ])

  @Test func jsonHasItsKeysInOrder() {
    let maps = report.maps.map {
      """
      {"method":"\($0.method.rawValue)","layer":"\($0.layer)","ms":22,\
      "forwardPasses":\($0.method == .eigencam ? 1.046 : 1.1)}
      """
    }.joined(separator: ",")
    #expect(
      BenchmarkOutput(report: report).json.text == """
        {"schemaVersion":2,"model":{"name":"toy","version":"0.0.1","sha256":"abc"},"runs":3,\
        "latencyMs":{"min":10,"p50":20,"p90":40,"p99":40},"preprocessMs":2,"threads":2,\
        "instructionSet":"baseline","gflops":100,"peakGflopsPerThread":100,\
        "profile":[{"layer":"blocks.1.0","step":"expand, depthwise 5x5 / 2",\
        "shapes":"[9, 9, 4] > [5, 5, 24]","ms":2,"gflops":50}],\
        "maps":[\(maps)],\
        "forecasts":[{"threads":1,"ms":40,"regions":6},{"threads":16,"ms":3.125,"regions":7}],\
        "disclaimer":"\(Wording.disclaimer)"}
        """)
  }

  @Test func textShowsEachStepWithItsShareOfAllThreadsPeak() {
    #expect(
      BenchmarkOutput(report: report).text(width: nil) == """
        Model            toy 0.0.1, SHA-256 abc
        Kernels          baseline, 2 threads
        Latency          20.00 ms (least 10.00, 90 % within 40.00, 99 % within 40.00; 3 runs)
        Preprocessing    2.00 ms
        Speed            100.0 GFLOP/s, 50 % of the measured peak of 100.0 GFLOP/s a thread

        layer       step                       shapes                                 ms  GFLOP/s  of peak
        blocks.1.0  expand, depthwise 5x5 / 2  [9, 9, 4] > [5, 5, 24]              2.000     50.0     25 %
        sum                                                                        2.000

        Maps of one class, in forward passes, with the pass that each map needs
        layer           GradCAM   HiResCAM  GradCAM++   LayerCAM   EigenCAM
        conv_head          1.10       1.10       1.10       1.10       1.05
        stage6             1.10       1.10       1.10       1.10       1.05

        Forecast of the network, without what threads cost each other
        threads        ms  speedup  regions
        1           40.00     1.00        6
        16           3.13    12.80        7

        \(Wording.disclaimer)

        """)
  }

  @Test(arguments: ["0", "-1", "+5", "abc", "100001", "1.5", ""])
  func refusesOtherNumbersOfRuns(runs: String) {
    let result = runTool("bench", "--runs", runs)
    result.expect(.usage, part: "Please provide a whole number from 1 to 100000.")
  }

  @Test func namesTheFolderThatHoldsNoModel() {
    let result = runTool("bench", "--model", "no/such/folder")
    #expect(result.status == .failure)
    #expect(result.errors.contains("no/such/folder"))
  }

  @Test func percentilesAreNearestRanks() {
    let values = (1...10).map(Double.init)
    #expect([1, 10, 11, 50, 90, 91, 100].map(values.percentile) == [1, 1, 2, 5, 9, 10, 10])
  }
}
