/// What a result should say about its image; the raw values appear in results.
package enum ImageWarning: String, Sendable, CaseIterable {
  /// The decoder found the file damaged, and made pixels of it all the same.
  case damagedFile = "damaged_file"

  /// A side is under 100 pixels.
  case smallImage = "small_image"

  /// Every channel spans fewer than 2 levels, so colour constancy was skipped.
  case solidColor = "solid_color"

  /// A channel's Minkowski mean is below 1, so colour constancy was skipped.
  case nearBlack = "near_black"
}
