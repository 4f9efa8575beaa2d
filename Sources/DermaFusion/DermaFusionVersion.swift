/// The version of this package, as `dermafusion --version` prints it. A model has a version of its own
/// (``ModelIdentity``).
public enum DermaFusionVersion {
  /// Semantic version, `MAJOR.MINOR.PATCH`.
  public static let current = "1.2.0"
}
