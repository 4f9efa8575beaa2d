/// How this module was built.
package enum BuildOptimization {
  /// False in a debug build of a package that depends on this one, whose kernels take a minute for an image. As the root
  /// package the kernels are optimised in debug builds, too.
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
