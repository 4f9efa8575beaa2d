#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Windows of Swin's attention, told by where each pixel of the rolled map lies.
public struct ReferenceWindows: Sendable {
  let size: Int
  let shift: Int
  /// `[(2 * size - 1)^2, heads]`
  let bias: [Float]

  /// - Parameter bias: That of relative positions, `[(2 * size - 1)^2, heads]`.
  public init(size: Int, shift: Int, bias: [Float]) {
    (self.size, self.shift, self.bias) = (size, shift, bias)
  }

  /// The addition to the score of two pixels; nil if they are in different windows.
  fileprivate func bias(
    _ query: (y: Int, x: Int), _ key: (y: Int, x: Int), _ map: ReferenceMap, head: Int, heads: Int
  ) -> Double? {
    let (queryY, queryX) = (rolled(query.y, map.height), rolled(query.x, map.width))
    let (keyY, keyX) = (rolled(key.y, map.height), rolled(key.x, map.width))
    guard queryY / size == keyY / size, queryX / size == keyX / size else { return nil }
    let isTogether =
      part(queryY, map.height) == part(keyY, map.height) && part(queryX, map.width) == part(keyX, map.width)
    let index = (queryY - keyY + size - 1) * (2 * size - 1) + queryX - keyX + size - 1
    return Double(bias[index * heads + head]) - (isTogether ? 0 : 100)
  }

  private func rolled(_ place: Int, _ count: Int) -> Int { (place - shift + count) % count }

  /// Which of the parts that rolling brings together.
  private func part(_ place: Int, _ count: Int) -> Int {
    shift == 0 || place < count - size ? 0 : place < count - shift ? 1 : 2
  }
}

extension ReferenceMap {
  /// `softmax(q k^T / sqrt(head size) + bias) v` for each head, of the channels `[3, heads, head size]`.
  public func attention(heads: Int, windows: ReferenceWindows? = nil) -> ReferenceMap {
    var result = ReferenceMap(height: height, width: width, channels: channels / 3)
    let size = channels / 3 / heads
    func value(_ pixel: Int, _ part: Int, _ head: Int, _ c: Int) -> Double {
      values[pixel * channels + (part * heads + head) * size + c]
    }
    for head in 0..<heads {
      for query in 0..<height * width {
        var scores: [(key: Int, score: Double)] = []
        for key in 0..<height * width {
          var score = 0.0
          for c in 0..<size { score += value(query, 0, head, c) * value(key, 1, head, c) }
          score /= Double(size).squareRoot()
          if let windows {
            let places = [query, key].map { (y: $0 / width, x: $0 % width) }
            guard let bias = windows.bias(places[0], places[1], self, head: head, heads: heads) else {
              continue
            }
            score += bias
          }
          scores.append((key, score))
        }
        let weights = Reference.softmax(scores.map(\.score))
        for c in 0..<size {
          result.values[query * result.channels + head * size + c] = zip(scores, weights).reduce(0) {
            $0 + $1.1 * value($1.0.key, 2, head, c)
          }
        }
      }
    }
    return result
  }

  /// This map's pixels behind other rows of channels, each with a row of positions added, if there are any.
  public func tokens(behind first: [Float], positions: [Float]?, embedsFirst: Bool) -> ReferenceMap {
    let count = first.count / channels
    var result = ReferenceMap(height: count + height * width, width: 1, channels: channels)
    result.values = first.map(Double.init) + values
    guard let positions else { return result }
    let start = embedsFirst ? 0 : first.count
    for i in positions.indices { result.values[start + i] += Double(positions[i]) }
    return result
  }

  /// Queries and keys, each of `heads` heads side by side with values, turned by pairs of channels half a head apart.
  ///
  /// - Parameter angles: Those of each token, one for each pair of a head.
  public func rotated(heads: Int, by angles: [[Double]]) -> ReferenceMap {
    var result = self
    let headSize = channels / (3 * heads)
    for (token, turns) in angles.enumerated() {
      for head in 0..<2 * heads {
        for (i, angle) in turns.enumerated() {
          let left = token * channels + head * headSize + i
          let right = left + headSize / 2
          let turn = (cosine: cos(angle), sine: sin(angle))
          result.values[left] = values[left] * turn.cosine - values[right] * turn.sine
          result.values[right] = values[right] * turn.cosine + values[left] * turn.sine
        }
      }
    }
    return result
  }

  /// 2x2 pixels side by side, those of the left column first.
  public func merged() -> ReferenceMap {
    var result = ReferenceMap(height: height / 2, width: width / 2, channels: 4 * channels)
    for y in 0..<height {
      for x in 0..<width {
        for channel in 0..<channels {
          let place = (x % 2 * 2 + y % 2) * channels + channel
          result.values[result.index(y / 2, x / 2, place)] = values[index(y, x, channel)]
        }
      }
    }
    return result
  }
}
