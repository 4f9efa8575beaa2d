import KernelInterface
import TensorModule

/// The operations of a network, for people and programs.
package struct NetworkDescription: Sendable, Equatable {
  package struct Operation: Sendable, Equatable {
    /// timm's name of the layer; empty for an operation without weights.
    package let name: String
    /// Its computation, in short: `expand, depthwise 5x5 / 2`.
    package let title: String
    /// `[height, width, channels]`; 1x1 for vectors.
    package let inputs: [FeatureShape]
    package let output: FeatureShape
    /// Numbers that training set, running statistics left out.
    package let parameters: Int
    package let multiplyAdds: Int
    /// The operations that became parts of it, in order: names and titles.
    package let fused: [String]
  }

  package let image: FeatureShape
  package let operations: [Operation]

  package var parameters: Int { operations.reduce(0) { $0 + $1.parameters } }
  package var multiplyAdds: Int { operations.reduce(0) { $0 + $1.multiplyAdds } }
}

extension Network {
  /// The operations in the order in which they run, then the layers of the head.
  package var description: NetworkDescription {
    let operations = list.operations.map { _, node in
      let (operation, inputs) = (node.operation, list.shapes(node))
      return NetworkDescription.Operation(
        name: operation.name, title: operation.title, inputs: inputs, output: node.shape,
        parameters: operation.parameterCount(inputs), multiplyAdds: operation.multiplyAdds(inputs),
        fused: node.parts.map { $0.name.isEmpty ? $0.title : "\($0.name) (\($0.title))" })
    }
    return NetworkDescription(image: list.image, operations: operations + head.description)
  }
}

extension ClassifierHead {
  fileprivate var description: [NetworkDescription.Operation] {
    var layers = hidden.map { [dense($0, $0.activation)] } ?? []
    switch output {
    case .dense(let layer): layers.append(dense(layer))
    case .fusion(let head):
      let tables = [head.sexEmbedding, head.siteEmbedding].map {
        NetworkDescription.Operation(
          name: "", title: "embedding", inputs: [], output: vector($0.table.shape[1]),
          parameters: $0.table.values.count, multiplyAdds: 0, fused: [])
      }
      layers += tables
      layers += [dense(head.metadataDense, .silu, norm: true), dense(head.hidden, .silu, norm: true)]
      layers.append(dense(head.classifier))
    case .none: break
    }
    return layers
  }

  private func vector(_ count: Int) -> FeatureShape { FeatureShape(height: 1, width: 1, channels: count) }

  private func dense(
    _ layer: Dense, _ activation: Activation = .identity, norm: Bool = false
  ) -> NetworkDescription.Operation {
    let (inputs, outputs) = (layer.matrix.depth, layer.matrix.columnCount)
    return NetworkDescription.Operation(
      name: "", title: "dense", inputs: [vector(inputs)], output: vector(outputs),
      parameters: (inputs + 1) * outputs + (norm ? 2 * outputs : 0), multiplyAdds: inputs * outputs,
      fused: (norm ? ["layer norm"] : []) + (activation == .identity ? [] : [activation.title]))
  }
}
