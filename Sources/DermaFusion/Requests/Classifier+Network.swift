import Files
import NetworkModule
import TensorModule

extension Classifier {
  package struct DescribedNetwork: Sendable {
    package let model: ModelIdentity
    package let network: NetworkDescription

    package var json: JSONValue {
      .object([
        "model": model.json, "input": network.image.json, "parameters": .integer(network.parameters),
        "multiplyAdds": .integer(network.multiplyAdds),
        "operations": .array(network.operations.map { $0.json }),
      ])
    }
  }

  /// The operations that are computed; those of each member of an ensemble.
  package var networks: [DescribedNetwork] {
    models.map { DescribedNetwork(model: $0.identity, network: $0.network.description) }
  }
}

extension NetworkDescription.Operation {
  fileprivate var json: JSONValue {
    .object([
      "name": name.isEmpty ? .null : .string(name), "operation": .string(title),
      "inputs": .array(inputs.map { $0.json }), "output": output.json, "parameters": .integer(parameters),
      "multiplyAdds": .integer(multiplyAdds), "fused": .strings(fused),
    ])
  }
}

extension FeatureShape {
  fileprivate var json: JSONValue { .array([height, width, channels].map { .integer($0) }) }
}
