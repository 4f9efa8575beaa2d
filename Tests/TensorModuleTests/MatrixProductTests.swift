import KernelInterface
import ReferenceLayers
import Testing

@testable import TensorModule

@Suite struct MatrixProductTests {
  static let rowCounts = [1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 27, 37, 49, 144]
  static let depths = [1, 3, 23, 24, 27, 56, 144]
  static let columnCounts = [1, 7, 8, 9, 16, 17, 19, 24, 33, 40, 56, 112]

  /// Every column count with every depth; the rows and the activation change from one to the next.
  @Test(arguments: KernelChoice.runnable, columnCounts)
  func equalsTheReferenceAndStaysInside(kernels: KernelSet, columnCount: Int) {
    for (i, depth) in Self.depths.enumerated() {
      for (j, rowCount) in Self.rowCounts.enumerated() where (i + j + columnCount) % 3 == 0 || rowCount < 8 {
        let activation = Activation.allCases[(i + j) % Activation.allCases.count]
        check(
          kernels: kernels, rowCount: rowCount, depth: depth, columnCount: columnCount,
          activation: activation,
          hasResidual: (i + j) % 2 == 0, extraStride: j % 2 * kernels.vectorWidth)
      }
    }
  }

  @Test(arguments: KernelChoice.runnable, Activation.allCases)
  func everyActivationIsAppliedBeforeTheResidual(kernels: KernelSet, activation: Activation) {
    for columnCount in [7, 24, 56] {
      for hasResidual in [false, true] {
        check(
          kernels: kernels, rowCount: 13, depth: 27, columnCount: columnCount, activation: activation,
          hasResidual: hasResidual, extraStride: 0)
      }
    }
  }

  private func check(
    kernels: KernelSet, rowCount: Int, depth: Int, columnCount: Int, activation: Activation,
    hasResidual: Bool, extraStride: Int
  ) {
    let seed = UInt64(rowCount * 1_000_000 + depth * 1000 + columnCount)
    var generator = SeededGenerator(seed: seed)
    let a = generator.floats(rowCount * depth, scale: 3)
    let weight = generator.floats(columnCount * depth)
    let bias = generator.floats(columnCount, scale: 2)
    let residual = generator.floats(rowCount * columnCount, scale: 4)
    let shape = FeatureShape(height: rowCount, width: 1, channels: columnCount)
    // A row stride longer than the depth, with poison between the rows.
    let left = GuardedBuffer(count: rowCount * (depth + 3))
    for row in 0..<rowCount {
      (left.pointer + row * (depth + 3)).update(from: Array(a[row * depth..<(row + 1) * depth]), count: depth)
    }
    let output = GuardedMap(shape, kernels: kernels, extraStride: extraStride)
    let added = GuardedMap(residual, shape, kernels: kernels, extraStride: extraStride)
    let matrix = PackedMatrix(
      weight: weight, columnCount: columnCount, depth: depth, bias: bias, kernels: kernels)
    matrix.multiply(
      a: left.pointer, aStride: depth + 3, rowCount: rowCount, into: output.map.pointer,
      cStride: output.map.pixelStride, activation: activation,
      residual: hasResidual ? UnsafePointer(added.map.pointer) : nil)

    var expected = ReferenceMap(height: rowCount, width: 1, channels: depth, values: a)
      .pointwise(weight: weight, bias: bias)
    if hasResidual {
      expected = expected.adding(
        ReferenceMap(height: rowCount, width: 1, channels: columnCount, values: residual))
    }
    expected = expected.activated(activation.reference)
    let mismatch = expected.mismatch(output.dense(), factor: Tolerances.matrixProduct)
    let context: Comment =
      "\(kernels.testDescription), \(rowCount) x \(depth) x \(columnCount), \(activation), seed \(seed)"
    #expect(mismatch == nil, context)
    #expect(output.buffer.firstBrokenGuard == nil, context)
    // Between the rows' whole vectors nothing is written either.
    let padded = output.map.pixelStride - extraStride
    for row in 0..<rowCount where extraStride > 0 {
      let gap = UnsafeBufferPointer(
        start: output.map.pointer + (row * output.map.pixelStride + padded), count: extraStride)
      #expect(gap.allSatisfy { $0.bitPattern == GuardedBuffer.poison.bitPattern }, context)
    }
  }

  /// The whole result does not depend on how its rows and panels are divided among calls.
  @Test(arguments: KernelChoice.runnable, [8, 24, 40, 72, 112])
  func partsGiveTheBitsOfTheWhole(kernels: KernelSet, columnCount: Int) {
    let rowCount = 37
    let depth = 56
    let seed: UInt64 = 77
    var generator = SeededGenerator(seed: seed)
    let a = generator.floats(rowCount * depth)
    let matrix = PackedMatrix(
      weight: generator.floats(columnCount * depth), columnCount: columnCount, depth: depth,
      bias: generator.floats(columnCount), kernels: kernels)
    let shape = FeatureShape(height: rowCount, width: 1, channels: columnCount)
    let whole = GuardedMap(shape, kernels: kernels)
    matrix.multiply(
      a: a, aStride: depth, rowCount: rowCount, into: whole.map.pointer, cStride: whole.map.pixelStride,
      activation: .silu)
    for rowsAtATime in [1, 2, 5, 7, 13, 36] {
      let parts = GuardedMap(shape, kernels: kernels)
      for panel in 0..<matrix.layout.panelCount {
        for first in stride(from: 0, to: rowCount, by: rowsAtATime) {
          a.withUnsafeBufferPointer { a in
            matrix.multiply(
              a: a.baseAddress! + first * depth, aStride: depth, rowCount: min(rowsAtATime, rowCount - first),
              into: parts.map.pointer + first * parts.map.pixelStride, cStride: parts.map.pixelStride,
              panelRange: panel..<panel + 1, activation: .silu)
          }
        }
      }
      let difference = firstDifference(whole.dense(), parts.dense())
      #expect(difference == nil, "\(rowsAtATime) rows at a time, seed \(seed)")
      #expect(parts.isIntact)
    }
  }

  /// Rows that overlap, in pieces that are apart: windows over copied rows.
  @Test(arguments: KernelChoice.runnable, [5, 24, 40])
  func rowsInPiecesGiveTheBitsOfWholeRows(kernels: KernelSet, columnCount: Int) {
    let seed: UInt64 = 79
    var generator = SeededGenerator(seed: seed)
    for (segmentCount, segmentDepth, aStride, rowCount) in [(3, 9, 6, 13), (2, 1, 1, 7), (25, 4, 3, 1)] {
      let depth = segmentCount * segmentDepth
      let segmentStride = (rowCount - 1) * aStride + segmentDepth + 2
      let pieces = generator.floats(segmentCount * segmentStride)
      let whole = (0..<rowCount).flatMap { row in
        (0..<depth).map { k in
          pieces[k / segmentDepth * segmentStride + row * aStride + k % segmentDepth]
        }
      }
      let matrix = PackedMatrix(
        weight: generator.floats(columnCount * depth), columnCount: columnCount, depth: depth,
        bias: generator.floats(columnCount), kernels: kernels)
      let shape = FeatureShape(height: rowCount, width: 1, channels: columnCount)
      let expected = GuardedMap(shape, kernels: kernels)
      let found = GuardedMap(shape, kernels: kernels)
      let stride = expected.map.pixelStride
      matrix.multiply(
        a: whole, aStride: depth, rowCount: rowCount, into: expected.map.pointer, cStride: stride,
        activation: .relu6)
      matrix.multiply(
        a: pieces, aStride: aStride, segmentCount: segmentCount, segmentStride: segmentStride,
        rowCount: rowCount, into: found.map.pointer, cStride: stride, activation: .relu6)
      let difference = firstDifference(expected.dense(), found.dense())
      #expect(difference == nil, "\(segmentCount) pieces of \(segmentDepth), seed \(seed)")
      #expect(found.isIntact)
    }
  }

  /// Runs of rows with something else in between give the bits of the whole, and leave what is in between alone.
  @Test(arguments: KernelChoice.runnable, [5, 24, 40])
  func runsOfRowsLeaveWhatIsBetweenThem(kernels: KernelSet, columnCount: Int) {
    let (runCount, depth, gap) = (3, 11, 2)
    let seed: UInt64 = 78
    var generator = SeededGenerator(seed: seed)
    let matrix = PackedMatrix(
      weight: generator.floats(columnCount * depth), columnCount: columnCount, depth: depth,
      bias: generator.floats(columnCount), kernels: kernels)
    for rowsInRun in [1, 6, 13] {
      let a = generator.floats(runCount * rowsInRun * depth)
      let residual = generator.floats(runCount * rowsInRun * columnCount)
      let whole = GuardedMap(
        FeatureShape(height: runCount, width: rowsInRun, channels: columnCount), kernels: kernels)
      let added = GuardedMap(residual, whole.map.shape, kernels: kernels)
      let apart = FeatureShape(height: runCount, width: rowsInRun + gap, channels: columnCount)
      let runs = GuardedMap(apart, kernels: kernels)
      let addedRuns = GuardedMap(apart, kernels: kernels)
      let stride = whole.map.pixelStride
      for run in 0..<runCount {
        (addedRuns.map.pointer + run * (rowsInRun + gap) * stride).update(
          from: added.map.pointer + run * rowsInRun * stride, count: rowsInRun * stride)
      }
      matrix.multiply(
        a: a, aStride: depth, rowCount: runCount * rowsInRun, into: whole.map.pointer, cStride: stride,
        activation: .silu, residual: UnsafePointer(added.map.pointer))
      matrix.multiply(
        a: a, aStride: depth, rowCount: rowsInRun, runCount: runCount, into: runs.map.pointer,
        cStride: stride,
        runStride: (rowsInRun + gap) * stride, activation: .silu,
        residual: UnsafePointer(addedRuns.map.pointer))
      let dense = runs.dense()
      let rowLength = (rowsInRun + gap) * columnCount
      let written = (0..<runCount).flatMap {
        dense[$0 * rowLength..<$0 * rowLength + rowsInRun * columnCount]
      }
      let between = (0..<runCount).flatMap {
        dense[$0 * rowLength + rowsInRun * columnCount..<($0 + 1) * rowLength]
      }
      let context: Comment = "\(kernels.testDescription), runs of \(rowsInRun), seed \(seed)"
      #expect(firstDifference(whole.dense(), written) == nil, context)
      #expect(between.allSatisfy { $0.bitPattern == GuardedBuffer.poison.bitPattern }, context)
      #expect(runs.isIntact, context)
    }
  }

  /// A panel writes its own columns and no others.
  @Test(arguments: KernelChoice.runnable, [1, 2, 3, 4, 5, 6, 7])
  func aPanelWritesItsOwnColumnsOnly(kernels: KernelSet, vectorCount: Int) {
    let columnCount = vectorCount * kernels.vectorWidth
    let depth = 9
    var generator = SeededGenerator(seed: 5)
    let matrix = PackedMatrix(
      weight: generator.floats(columnCount * depth), columnCount: columnCount, depth: depth, bias: nil,
      kernels: kernels)
    for rowCount in [1, 5, 6, 7, 13] {
      let a = generator.floats(rowCount * depth)
      for panel in 0..<matrix.layout.panelCount {
        let output = GuardedMap(
          FeatureShape(height: rowCount, width: 1, channels: columnCount), kernels: kernels)
        matrix.multiply(
          a: a, aStride: depth, rowCount: rowCount, into: output.map.pointer, cStride: columnCount,
          panelRange: panel..<panel + 1)
        let first = panel * 2 * kernels.vectorWidth
        let own = first..<first + matrix.layout.vectorCount(ofPanel: panel) * kernels.vectorWidth
        let written = output.dense().enumerated().filter { !$0.element.isNaN }.map {
          $0.offset % columnCount
        }
        #expect(
          Set(written) == Set(own) && written.count == own.count * rowCount,
          "panel \(panel) of \(vectorCount) vectors, \(rowCount) rows")
        #expect(output.isIntact)
      }
    }
  }
}
