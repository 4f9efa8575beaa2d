import KernelInterface
import ReferenceLayers
import SystemModule
import Testing

@testable import TensorModule

/// The work of every matrix kernel, for whatever type of values and instruction set.
@Suite struct ProductKernelTests {
  /// The whole result does not depend on how its rows and panels are divided among calls.
  @Test(arguments: ProductKernel.all, [8, 24, 40, 72, 112])
  func partsGiveTheBitsOfTheWhole(kernel: ProductKernel, columnCount: Int) throws {
    let rowCount = 37
    let seed: UInt64 = 77
    let sample = try ProductSample(
      kernel, rowCount: rowCount, depth: 23, columnCount: columnCount, seed: seed)
    let shape = FeatureShape(height: rowCount, width: 1, channels: columnCount)
    let whole = GuardedMap(shape, kernels: kernel.kernels)
    let stride = whole.map.pixelStride
    sample.multiply(rowCount: rowCount, into: whole.map.pointer, cStride: stride) { $0.activation = .silu }
    for rowsAtATime in [1, 2, 5, 7, 13, 36] {
      let parts = GuardedMap(shape, kernels: kernel.kernels)
      for panel in 0..<sample.layout.panelCount {
        for first in Swift.stride(from: 0, to: rowCount, by: rowsAtATime) {
          sample.multiply(
            sample.words[(first * sample.depth)...], rowCount: min(rowsAtATime, rowCount - first),
            into: parts.map.pointer + first * stride, cStride: stride
          ) {
            $0.activation = .silu
            $0.panelRange = panel..<panel + 1
          }
        }
      }
      #expect(
        firstDifference(whole.dense(), parts.dense()) == nil, "\(rowsAtATime) rows at a time, seed \(seed)")
      #expect(parts.isIntact)
    }
  }

  /// Rows that overlap, in pieces that are apart: windows over copied rows.
  @Test(arguments: ProductKernel.all, [5, 24, 40])
  func rowsInPiecesGiveTheBitsOfWholeRows(kernel: ProductKernel, columnCount: Int) throws {
    let seed: UInt64 = 79
    for (segmentCount, segmentDepth, aStride, rowCount) in [(3, 9, 6, 13), (2, 1, 1, 7), (25, 4, 3, 1)] {
      let depth = segmentCount * segmentDepth
      let segmentStride = (rowCount - 1) * aStride + segmentDepth + 2
      let sample = try ProductSample(
        kernel, rowCount: max(segmentCount * segmentStride / depth + 1, rowCount), depth: depth,
        columnCount: columnCount, seed: seed)
      let pieces = sample.words.prefix(segmentCount * segmentStride)
      let whole = (0..<rowCount).flatMap { row in
        (0..<depth).map { k in
          pieces[k / segmentDepth * segmentStride + row * aStride + k % segmentDepth]
        }
      }
      let shape = FeatureShape(height: rowCount, width: 1, channels: columnCount)
      let expected = GuardedMap(shape, kernels: kernel.kernels)
      let found = GuardedMap(shape, kernels: kernel.kernels)
      let stride = expected.map.pixelStride
      sample.multiply(whole[...], rowCount: rowCount, into: expected.map.pointer, cStride: stride) {
        $0.activation = .relu6
      }
      sample.multiply(
        pieces, aStride: aStride, rowCount: rowCount, into: found.map.pointer, cStride: stride
      ) {
        $0.activation = .relu6
        $0.segmentCount = segmentCount
        $0.segmentDepth = segmentDepth
        $0.segmentStride = segmentStride
      }
      let difference = firstDifference(expected.dense(), found.dense())
      #expect(difference == nil, "\(segmentCount) pieces of \(segmentDepth), seed \(seed)")
      #expect(found.isIntact)
    }
  }

  /// Runs of rows with something else in between give the bits of the whole, and leave what is in between alone.
  @Test(arguments: ProductKernel.all, [5, 24, 40])
  func runsOfRowsLeaveWhatIsBetweenThem(kernel: ProductKernel, columnCount: Int) throws {
    let (runCount, depth, gap) = (3, 11, 2)
    let seed: UInt64 = 78
    var generator = SeededGenerator(seed: seed)
    for rowsInRun in [1, 6, 13] {
      let sample = try ProductSample(
        kernel, rowCount: runCount * rowsInRun, depth: depth, columnCount: columnCount, seed: seed)
      let residual = generator.floats(runCount * rowsInRun * columnCount)
      let whole = GuardedMap(
        FeatureShape(height: runCount, width: rowsInRun, channels: columnCount), kernels: kernel.kernels)
      let added = GuardedMap(residual, whole.map.shape, kernels: kernel.kernels)
      let apart = FeatureShape(height: runCount, width: rowsInRun + gap, channels: columnCount)
      let runs = GuardedMap(apart, kernels: kernel.kernels)
      let addedRuns = GuardedMap(apart, kernels: kernel.kernels)
      let stride = whole.map.pixelStride
      for run in 0..<runCount {
        (addedRuns.map.pointer + run * (rowsInRun + gap) * stride).update(
          from: added.map.pointer + run * rowsInRun * stride, count: rowsInRun * stride)
      }
      sample.multiply(rowCount: runCount * rowsInRun, into: whole.map.pointer, cStride: stride) {
        $0.activation = .silu
        $0.residual = UnsafePointer(added.map.pointer)
      }
      sample.multiply(rowCount: rowsInRun, into: runs.map.pointer, cStride: stride) {
        $0.runCount = runCount
        $0.runAStride = rowsInRun * $0.aStride
        $0.runStride = (rowsInRun + gap) * stride
        $0.activation = .silu
        $0.residual = UnsafePointer(addedRuns.map.pointer)
      }
      let dense = runs.dense()
      let rowLength = (rowsInRun + gap) * columnCount
      let writtenLength = rowsInRun * columnCount
      let rows = (0..<runCount).map { run in dense[run * rowLength..<(run + 1) * rowLength] }
      let written = rows.flatMap { $0.prefix(writtenLength) }
      let between = rows.flatMap { $0.dropFirst(writtenLength) }
      let context: Comment = "runs of \(rowsInRun), seed \(seed)"
      #expect(firstDifference(whole.dense(), written) == nil, context)
      #expect(between.allSatisfy { $0.bitPattern == GuardedBuffer.poison.bitPattern }, context)
      #expect(runs.isIntact && added.isIntact && addedRuns.isIntact, context)
    }
  }

  /// A panel writes its own columns and no others.
  @Test(arguments: ProductKernel.all, [1, 2, 3, 4, 5, 6, 7])
  func aPanelWritesItsOwnColumnsOnly(kernel: ProductKernel, vectorCount: Int) throws {
    let width = kernel.kernels.vectorWidth
    let columnCount = vectorCount * width
    for rowCount in [1, 5, 6, 7, 13] {
      let sample = try ProductSample(kernel, rowCount: rowCount, depth: 9, columnCount: columnCount, seed: 5)
      for panel in 0..<sample.layout.panelCount {
        let output = GuardedMap(
          FeatureShape(height: rowCount, width: 1, channels: columnCount), kernels: kernel.kernels)
        sample.multiply(rowCount: rowCount, into: output.map.pointer, cStride: columnCount) {
          $0.panelRange = panel..<panel + 1
        }
        let first = panel * 2 * width
        let own = first..<first + sample.layout.vectorCount(ofPanel: panel) * width
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

  /// An ending gives the bits of the same activation done afterwards: on whole numbers, of that in a fixed order.
  @Test(arguments: ProductKernel.all, Activation.allCases)
  func everyActivationIsAppliedToTheSumWithTheResidual(kernel: ProductKernel, activation: Activation) throws {
    let rowCount = 13
    for columnCount in [7, 24, 56] {
      for hasResidual in [false, true] {
        let seed = UInt64(columnCount)
        var generator = SeededGenerator(seed: seed)
        let sample = try ProductSample(
          kernel, rowCount: rowCount, depth: 19, columnCount: columnCount, seed: seed)
        let shape = FeatureShape(height: rowCount, width: 1, channels: columnCount)
        let stride = GuardedMap(shape, kernels: kernel.kernels).map.pixelStride
        let residual = GuardedMap(
          generator.floats(rowCount * stride, scale: 4),
          FeatureShape(height: rowCount, width: 1, channels: stride), kernels: kernel.kernels)
        let whole = GuardedMap(shape, kernels: kernel.kernels)
        let parts = GuardedMap(shape, kernels: kernel.kernels)
        sample.multiply(rowCount: rowCount, into: whole.map.pointer, cStride: stride) {
          $0.activation = activation
          if hasResidual { $0.residual = UnsafePointer(residual.map.pointer) }
        }
        sample.multiply(rowCount: rowCount, into: parts.map.pointer, cStride: stride) { _ in }
        for place in 0..<rowCount * stride where hasResidual {
          parts.map.pointer[place] += residual.map.pointer[place]
        }
        if kernel.type == .int8 {
          parts.map.activateExactly(
            activation, kernels: kernel.kernels, pool: ThreadPool(threadCount: 1))
        } else {
          kernel.kernels.activate(
            ActivationPass(values: parts.map.pointer, count: rowCount * stride, activation: activation))
        }
        #expect(
          firstDifference(whole.dense(), parts.dense()) == nil,
          "\(columnCount) columns, with a residual: \(hasResidual), seed \(seed)")
      }
    }
  }
}
