import Files
import ImagePipeline
import NetworkModule
import SystemModule

extension Classifier {
  /// What a request asks of an image, as `classify --format json` prints it.
  ///
  /// - Throws: ``DermaFusionError/Code/invalidImage`` or ``DermaFusionError/Code/nonFiniteOutput``.
  package func answer(_ request: ImageRequest, of image: PixelImage) throws(DermaFusionError) -> JSONValue {
    let (result, output) = try classify(
      preprocessed(image), metadata: request.metadata, views: request.views,
      imageSHA256: request.imageSHA256)
    let shares =
      request.includesMetadataShares ? try metadataShares(of: output, metadata: request.metadata) : nil
    return result.orderedJSON(imageName: request.imageName, shares: shares)
  }

  /// The result and the maps that a request asks of an image, and both as JSON.
  ///
  /// - Throws: ``DermaFusionError``, see ``activationMap(of:metadata:label:method:layer:)``.
  package func explanation(
    _ request: ImageRequest, of image: PixelImage
  ) throws(DermaFusionError) -> (Explanation, JSONValue) {
    let input = try preprocessed(image)
    let explanation = try explain(
      input, metadata: request.metadata, method: request.method, layer: request.layer,
      imageSHA256: request.imageSHA256, selecting: selection(request.labels(of: self)))
    let shares =
      request.includesMetadataShares ? try metadataShares(of: input, metadata: request.metadata) : nil
    let trusts =
      request.includesTrust
      ? try trust(in: explanation.maps, of: input, metadata: request.metadata) : []
    return (
      explanation,
      .object([
        "classification": explanation.classification.orderedJSON(
          imageName: request.imageName, shares: shares),
        "maps": explanation.mapsJSON(trusts: trusts, includesSignedMap: request.includesSignedMap),
      ])
    )
  }
}
