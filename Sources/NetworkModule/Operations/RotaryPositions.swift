import Files
import KernelInterface
import SystemModule
import TensorModule

/// Queries and keys turned by the places of their tokens on a grid, as DINOv3 has them (Siméoni et al., "DINOv3", 2025; Su et
/// al., "RoFormer", 2021): what attention makes of two tokens depends on how far they lie apart.
///
/// Its input has queries, keys and values side by side. Channel `i` of the first half of a head and its partner in the second
/// half turn by one angle; the first half of these angles comes from the row, the second from the column.
final class RotaryPositions: Operation {
  struct Form: Sendable, Equatable {
    let headCount: Int
    /// Tokens before the grid's, which do not turn.
    let firstCount: Int
    let height: Int
    let width: Int
  }

  let form: Form

  init(_ form: Form) { self.form = form }

  var title: String { "rotary positions" }
  var precisions: [Precision] { [.float32, .bfloat16] }

  func prepare(
    _ inputs: [FeatureShape], _ weights: NetworkWeights, pool: ThreadPool
  ) throws(DermaFusionError) -> any PreparedOperation {
    precondition(
      inputs[0].pixelCount == form.firstCount + form.height * form.width
        && inputs[0].channels.isMultiple(of: 12 * form.headCount),
      "\(form.headCount) heads on a grid of \(form.height)x\(form.width) behind \(form.firstCount) of \(inputs[0])"
    )
    let rotation = Rotation(form, channels: inputs[0].channels)
    return PlainOperation(Layout(inputs[0], kernels: weights.kernels), weights.kernels) {
      inputs, output, run in
      rotation(inputs[0], into: output, run.pool)
    } backward: { gradient, input, _, run in
      rotation(gradient, into: input.target, sign: -1, run.pool)
    }
  }
}

extension RotaryPositions.Form {
  /// The angles of a token of the grid, one for each pair of channels, in radians: those of its row, then of its column.
  func angles(ofToken token: Int, headSize: Int) -> [Double] {
    Self.angles(ofLine: token / width, of: height, headSize: headSize)
      + Self.angles(ofLine: token % width, of: width, headSize: headSize)
  }

  /// The angles of a row or a column among as many: `2 pi c / 100^(i / n)`, where `c` is its middle between -1 and 1 and `i`
  /// counts to `n`, a quarter of the head.
  private static func angles(ofLine line: Int, of extent: Int, headSize: Int) -> [Double] {
    let count = headSize / 4
    let middle = (Double(line) + 0.5) / Double(extent) * 2 - 1
    return (0..<count).map { 2 * .pi * middle / Mathematics.pow(100, Double($0) / Double(count)) }
  }

  /// A function of the angles of all tokens, `[tokens of the grid, head size / 2]`. It is computed once for each row and column.
  fileprivate func table(headSize: Int, _ function: (Double) -> Double) -> [Float] {
    func lines(_ extent: Int) -> [[Float]] {
      (0..<extent).map { line in
        Self.angles(ofLine: line, of: extent, headSize: headSize).map { Float(function($0)) }
      }
    }
    let columns = lines(width)
    return lines(height).flatMap { row in columns.flatMap { row + $0 } }
  }
}

private struct Rotation: Sendable {
  private let form: RotaryPositions.Form
  private let headSize: Int
  /// `[tokens of the grid, head size / 2]`
  private let cosines: [Float]
  private let sines: [Float]

  /// - Parameter channels: Those of queries, keys and values together.
  init(_ form: RotaryPositions.Form, channels: Int) {
    self.form = form
    headSize = channels / (3 * form.headCount)
    cosines = form.table(headSize: headSize) { Mathematics.sin($0 + .pi / 2) }
    sines = form.table(headSize: headSize, Mathematics.sin)
  }

  /// - Parameter sign: -1 turns back.
  func callAsFunction(_ map: FeatureMap, into output: FeatureMap, sign: Float = 1, _ pool: ThreadPool) {
    let half = headSize / 2
    pool.run(taskCount: map.shape.pixelCount) { token, _ in
      let row = output.pointer + token * output.pixelStride
      row.update(from: map.pointer + token * map.pixelStride, count: map.pixelStride)
      guard token >= form.firstCount else { return }
      let first = (token - form.firstCount) * half
      cosines.withUnsafeBufferPointer { cosines in
        sines.withUnsafeBufferPointer { sines in
          for head in 0..<2 * form.headCount {
            let (left, right) = (row + head * headSize, row + head * headSize + half)
            for i in 0..<half {
              let (x, y) = (left[i], right[i])
              let (cosine, sine) = (cosines[first + i], sign * sines[first + i])
              left[i] = x * cosine - y * sine
              right[i] = y * cosine + x * sine
            }
          }
        }
      }
    }
  }
}
