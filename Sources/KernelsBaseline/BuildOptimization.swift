/// The build of this module.
package enum BuildOptimization {
  /// False where the flags of `Package.swift` were left out of a debug build; an image takes a minute then.
  package static let isOptimized: Bool = {
    var isChecked = false
    // The condition is only looked at without optimisation.
    assert(
      {
        isChecked = true
        return true
      }())
    return !isChecked
  }()
}
