import ImagePipeline
import NetworkModule
import TensorModule

extension Classifier {
  /// What explanations look into; nil when the engine is something else.
  var network: Network? { if case .network(let network) = engine { network } else { nil } }

  /// The models that vote; nil for a single model.
  var ensemble: Ensemble? { if case .ensemble(let ensemble) = engine { ensemble } else { nil } }

  /// The threads that share each layer's work; nil without a network.
  var pool: ThreadPool? { network?.pool ?? ensemble?.members[0].pool }

  /// The logits of the image as it is.
  ///
  /// - Parameters:
  ///   - metadata: `[4]`, see ``PatientMetadata/encoded()``.
  ///   - observe: is shown a network's feature maps on the way.
  package func runNetwork(
    _ image: PreprocessedImage, _ metadata: [Float], observe: ((String, FeatureMap) -> Void)? = nil
  ) throws -> NetworkOutput {
    switch engine {
    case .network(let network):
      network.run(metadata: metadata, writeInput: { image.writeNormalizedNHWC(to: $0) }, observe: observe)
    case .ensemble(let ensemble): try ensemble.output(of: image, metadata: metadata, views: .upright)
    case .function(let function): try function(image, metadata)
    }
  }
}
