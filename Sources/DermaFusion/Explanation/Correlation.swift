/// Pearson's correlation; nil when one of the two has no variance or is not finite.
func correlation(_ a: [Float], _ b: [Float]) -> Double? {
  precondition(a.count == b.count, "\(a.count) values correlated with \(b.count)")
  let means = (
    a.reduce(0) { $0 + Double($1) } / Double(a.count), b.reduce(0) { $0 + Double($1) } / Double(b.count)
  )
  var (ab, aa, bb) = (0.0, 0.0, 0.0)
  for i in a.indices {
    let (x, y) = (Double(a[i]) - means.0, Double(b[i]) - means.1)
    ab += x * y
    aa += x * x
    bb += y * y
  }
  return aa > 0 && bb > 0 && ab.isFinite ? ab / (aa * bb).squareRoot() : nil
}
