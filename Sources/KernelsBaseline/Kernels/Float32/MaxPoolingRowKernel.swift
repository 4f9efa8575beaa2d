import KernelInterface

/// See ``MaxPoolingRow``.
func maxPoolingRow(_ row: MaxPoolingRow) {
  for x in 0..<row.outputWidth {
    let left = x &* row.stride &- row.padLeft
    let columns = max(left, 0)..<min(left &+ row.kernelSize, row.inputWidth)
    let output = row.output + x &* row.outputPixelStride
    forEachVector(row.channelCount) { channel in
      var greatest = Vector(repeating: -.infinity)
      for ky in 0..<row.kernelSize {
        guard let pixels = row.rows[ky] else { continue }
        for column in columns {
          greatest = greatest.raised(to: load(pixels + (column &* row.inputPixelStride &+ channel)))
        }
      }
      store(greatest, output + channel)
    }
  }
}
