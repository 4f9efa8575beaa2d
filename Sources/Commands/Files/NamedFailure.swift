/// A failure that does not itself say of which file it speaks.
package struct NamedFailure: Error, CustomStringConvertible {
  let name: String
  let reason: String

  package var description: String { "\(name): \(reason)" }
}
