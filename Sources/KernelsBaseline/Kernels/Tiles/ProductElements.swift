/// The elements of a product: how the values of a word are multiplied and added up. A type of elements is one such type and
/// a line in `KernelChoice`'s table.
protocol ProductElements {
  /// A word of a row of `A`.
  associatedtype Word: BitwiseCopyable
  /// A vector of words of `B`, one for each column.
  associatedtype Words: BitwiseCopyable
  /// A vector of sums, one for each column.
  associatedtype Sums: BitwiseCopyable
  /// Whether the sums are whole numbers, which are multiplied by a scale and may become levels.
  static var areWholeNumbers: Bool { get }
  /// Whether four steps of the depth follow one another in a loop's body. Where products are no operation of the compiler's
  /// own, it would load the words of all four before it multiplies the first, and has no registers for them.
  static var areStepsUnrolled: Bool { get }

  /// Adds the products of a word of `A` and the words of `B`.
  static func accumulate(_ sums: inout Sums, _ a: Word, _ b: Words)
  /// The sums as floats.
  static func floats(_ sums: Sums) -> Vector
}
