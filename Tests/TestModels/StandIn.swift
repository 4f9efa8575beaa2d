import DermaFusion
import Files
import ImagePipeline
import NetworkModule
import SystemModule
import TensorModule

/// A model with a function in the place of its network.
package enum StandIn {
  /// - Parameters:
  ///   - configuration: a `config.json`.
  ///   - logits: one for each class of the configuration.
  package static func model(
    _ configuration: String, threadCount: Int = 1, sha256: String = "abc",
    logits: @escaping @Sendable (_ image: PreprocessedImage, _ metadata: MetadataVector) -> [Float]
  ) throws -> Model {
    Model(
      configuration: try ModelConfiguration(parsing: Array(configuration.utf8)),
      network: try network(threadCount: threadCount), sha256: { sha256 },
      standIn: { NetworkOutput(logits: logits($0, $1), pooled: []) })
  }

  private static let networks = Locked<[Int: Network]>([:])

  /// A network that is there but does not run; its kernels are the baseline's.
  private static func network(threadCount: Int) throws -> Network {
    try networks.withLock { networks in
      if let network = networks[threadCount] { return network }
      guard
        let (formula, configuration) = try FormulaNetwork.all().first(where: {
          $0.network.name == "efficientnet_lite0"
        })
      else { preconditionFailure("the fixtures have no efficientnet_lite0") }
      let network = try Network(
        ModelFolder(configuration: configuration, weights: formula.weights()), threadCount: threadCount,
        kernels: KernelChoice.available[0])
      networks[threadCount] = network
      return network
    }
  }

  /// The `config.json` of a model that works from the image alone, unless it has a fusion head.
  ///
  /// - Parameters:
  ///   - classes: the value of `classes`.
  ///   - constancy: the value of `color_constancy`.
  ///   - abstention: the value of `abstention`, if there is one.
  package static func configuration(
    name: String = "toy", version: String = "1", classes: String = ham10000, temperature: Double = 1,
    size: Int = 40,
    constancy: String = #"{"method": "none"}"#, hasFusion: Bool = false, abstention: String? = nil
  ) -> String {
    let sites = BodySite.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
    let head = """
      {"sex_embedding_size":4,"site_embedding_size":8,"metadata_size":32,"hidden_size":256,"layer_norm_epsilon":1e-5}
      """
    return """
      {"format_version": 1, "name": "\(name)", "version": "\(version)", "architecture": "efficientnet_lite2",
       "padding": "same", "batch_norm_epsilon": 0.001, "classes": \(classes), "temperature": \(temperature),
       "preprocessing": {"size": \(size), "color_constancy": \(constancy),
         "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]},
       "metadata": {"sexes": ["male", "female", "unknown"], "sites": [\(sites)]},
       "fusion": \(hasFusion ? head : "null")\(abstention.map { ", \"abstention\": \($0)" } ?? "")}
      """
  }

  package static let ham10000 = #"["akiec", "bcc", "bkl", "df", "mel", "nv", "vasc"]"#
  package static let shadesOfGray = #"{"method": "shades_of_gray", "p": 6, "rounding": "round"}"#
}
