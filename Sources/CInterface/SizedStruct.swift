import SystemModule

/// Checks the size that a C program writes into a struct: at least that of the struct's first version.
func requireSize(_ size: UInt32, atLeast first: Int, _ name: String) throws(DermaFusionError) {
  guard Int(size) >= first else {
    throw .argument(
      "the \(name)'s size is \(size), not \(first)", remedy: "Set size to the sizeof of the struct.")
  }
}

/// Fills a struct of a C program whose first member is its size: as much of it as the program knows.
///
/// - Parameter first: the size of the struct's first version.
func fill<Struct: BitwiseCopyable>(
  _ target: UnsafeMutablePointer<Struct>, size: UInt32, atLeast first: Int, _ name: String, with value: Struct
) throws(DermaFusionError) {
  try requireSize(size, atLeast: first, name)
  withUnsafeBytes(of: value) {
    let known = UnsafeRawBufferPointer(rebasing: $0.prefix(Int(size)))
    let target = UnsafeMutableRawPointer(target)
    target.copyMemory(from: known.baseAddress!, byteCount: known.count)
    target.storeBytes(of: UInt32(known.count), as: UInt32.self)
  }
}
