import SystemModule
import CommandLineSupport

/// An image of a batch, or why there is none in its place.
enum BatchItem: Sendable {
  case image(ImageSource)
  case failed(String)

  var source: ImageSource? {
    if case .image(let source) = self { source } else { nil }
  }

  /// What one argument stands for; see ``ImageSource/sources(for:)``.
  static func items(for argument: String) -> [BatchItem] {
    do throws(FileError) {
      let (sources, failures) = try ImageSource.sources(for: argument)
      return failures.map { .failed("\($0)") } + sources.map(BatchItem.image)
    } catch {
      return [.failed("\(error)")]
    }
  }
}
