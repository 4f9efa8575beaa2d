import NetworkModule
import SystemModule

extension Network {
  /// The feature map that a person names: one of ``featureMapNames``, or `stage0` ... for the end of a stage; nil: the
  /// last.
  ///
  /// - Throws: ``DermaFusionError/Code/unknownLayer``
  package func layerName(_ name: String?) throws(DermaFusionError) -> String {
    guard let name else { return featureMapNames[featureMapNames.count - 1] }
    if featureMapNames.contains(name) { return name }
    let stages = stageNames
    if let stage = stages.firstIndex(of: name) { return featureMapName(ofStage: stage) }
    // A stage by timm's name for it, such as layer3 or blocks.5.
    if let last = featureMapNames.last(where: { $0.utf8.starts(with: "\(name).".utf8) }) { return last }
    throw .unknownLayer(name, available: stages + featureMapNames)
  }
}
