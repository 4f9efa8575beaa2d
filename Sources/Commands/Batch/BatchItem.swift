import SystemModule

/// An image of a batch, or why there is none in its place.
enum BatchItem: Sendable {
  /// - folder: where a folder that was named has it: the path from there to the image's own folder; else empty.
  case image(ImageSource, folder: String)
  case failed(DermaFusionError)

  var source: ImageSource? {
    if case .image(let source, _) = self { source } else { nil }
  }

  /// - Throws: why there is none.
  func image() throws(DermaFusionError) -> ImageSource {
    switch self {
    case .image(let source, _): return source
    case .failed(let error): throw error
    }
  }
}

extension ImageSource {
  /// Does some work on the image; errors that do not themselves say of what they speak are given its name.
  func naming<Value>(_ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let error as DermaFusionError {
      throw error.namesItsFile || error.isOfOutput || error.isUsage ? error : error.named(name)
    } catch {
      throw DermaFusionError.failure(name: name, reason: "\(error)")
    }
  }
}
