import KernelInterface

/// Computes a product, panel by panel.
@inline(__always)
func multiply<Elements: ProductElements>(_ product: MatrixProduct, _: Elements.Type) {
  for index in product.panelRange {
    let column = index &* 2 &* Vector.scalarCount
    let panel = product.panels.assumingMemoryBound(to: Elements.Word.self) + column &* product.depth
    switch product.layout.vectorCount(ofPanel: index) {
    case 1: OneVectorTile<Elements>.computePanel(product, panel: panel, column: column)
    case 2: TwoVectorTile<Elements>.computePanel(product, panel: panel, column: column)
    default: ThreeVectorTile<Elements>.computePanel(product, panel: panel, column: column)
    }
  }
}
