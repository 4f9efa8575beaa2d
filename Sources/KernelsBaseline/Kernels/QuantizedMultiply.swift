import KernelInterface

private struct QuantizedPanels: ActivationLoop {
  let product: QuantizedProduct

  @inline(__always)
  func run<Function: ActivationFunction>(_: Function.Type) {
    for index in product.panelRange {
      let column = index &* 2 &* Words.scalarCount
      let panel = product.panels + column &* product.wordCount
      switch product.layout.vectorCount(ofPanel: index) {
      case 1: QuantizedOneVectorTile.computePanel(product, panel: panel, column: column, Function.self)
      case 2: QuantizedTwoVectorTile.computePanel(product, panel: panel, column: column, Function.self)
      default: QuantizedThreeVectorTile.computePanel(product, panel: panel, column: column, Function.self)
      }
    }
  }
}

/// See ``QuantizedProduct``.
func multiply(_ product: QuantizedProduct) {
  let panels = QuantizedPanels(product: product)
  switch product.ending {
  case .levels: panels.run(Level.self)
  case .values(.relu6): panels.run(ReLU6.self)
  case .values(.relu): panels.run(ReLU.self)
  default: panels.run(Identity.self)
  }
}
