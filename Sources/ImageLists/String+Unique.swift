extension [String] {
  /// Without those that occurred before.
  package var unique: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
