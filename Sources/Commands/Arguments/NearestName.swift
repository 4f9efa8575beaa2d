extension Collection<String> {
  /// The name that was probably meant: at most a third of its letters (at least one) inserted, left out,
  /// replaced or swapped with a neighbour; or the only one that begins so.
  package func nearest(to typed: String) -> String? {
    let beginning = filter { !typed.isEmpty && $0.hasPrefix(typed) }
    if beginning.count == 1 { return beginning[0] }
    let distances = map { (name: $0, distance: editDistance(Array($0.utf8), Array(typed.utf8))) }
    guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= Swift.max(1, best.name.utf8.count / 3) ? best.name : nil
  }
}

/// Damerau-Levenshtein distance in its restricted form: no letter is edited twice.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var table = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
  for row in 0...left.count { table[row][0] = row }
  for column in 0...right.count { table[0][column] = column }
  for row in stride(from: 1, through: left.count, by: 1) {
    for column in stride(from: 1, through: right.count, by: 1) {
      let replaced = table[row - 1][column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
      var best = min(replaced, table[row - 1][column] + 1, table[row][column - 1] + 1)
      if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
        best = min(best, table[row - 2][column - 2] + 1)
      }
      table[row][column] = best
    }
  }
  return table[left.count][right.count]
}
