/// How far one activation map can be trusted, measured on the image itself.
///
/// Deletion and insertion are those of Petsiuk et al., "RISE", 2018; the randomisation check is that of Adebayo et al.,
/// "Sanity Checks for Saliency Maps", 2018. None of them can prove a map right; each can show that it is wrong.
public struct MapTrust: Sendable, Equatable {
  /// Mean probability of the class while the map's strongest places are replaced first by the image's mean colour,
  /// 0...1. Lower is better.
  public let deletionAUC: Double
  /// Mean probability of the class while the map's strongest places are brought back first into a blurred image, 0...1.
  /// Higher is better.
  public let insertionAUC: Double
  /// ``deletionAUC`` of random maps that are as smooth, on average.
  public let randomDeletionAUC: Double
  /// ``insertionAUC`` of random maps that are as smooth, on average.
  public let randomInsertionAUC: Double
  /// Pearson's correlation of the map, before its negative part is cut off, with the maps of the same network whose
  /// head's weights were shuffled, on average: -1...1. Near 1: the map shows the image rather than what the model learned.
  /// `nil` when a map has no variance.
  public let shuffledHeadCorrelation: Double?

  /// Correlations from here on are called high.
  public static let highCorrelation = 0.5

  /// Whether the map does better than random ones in deletion and in insertion, and depends on the head.
  public var passes: Bool {
    deletionAUC < randomDeletionAUC && insertionAUC > randomInsertionAUC
      && (shuffledHeadCorrelation.map { $0 < Self.highCorrelation } ?? false)
  }
}
