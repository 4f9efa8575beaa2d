import KernelInterface

private struct Panels: ActivationLoop {
  let product: MatrixProduct

  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    for index in product.panelRange {
      let column = index &* 2 &* Vector.scalarCount
      let panel = product.panels + column &* product.depth
      switch product.layout.vectorCount(ofPanel: index) {
      case 1: OneVectorTile.computePanel(product, panel: panel, column: column, Function.self)
      case 2: TwoVectorTile.computePanel(product, panel: panel, column: column, Function.self)
      default: ThreeVectorTile.computePanel(product, panel: panel, column: column, Function.self)
      }
    }
  }
}

/// See ``MatrixProduct``.
func multiply(_ product: MatrixProduct) {
  product.activation.select(Panels(product: product))
}
