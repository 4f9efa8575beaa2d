/// The options of `classify` alone.
enum ClassifyOptions {
  static let all: [any AnyCommandOption] = [explainMetadata, format, timing, output, resume]

  static let explainMetadata = Flag(
    "explain-metadata",
    abstract: """
      Add the logit of each class for the image alone, with all metadata, and without the age, the sex or the site. \
      For text and JSON.
      """)
  static let format = OutputFormat.tableOption
  static let output = CommandOption<String>.path(
    "output", valueName: "file",
    abstract: """
      Write the results to this file instead of standard output. The file appears when it is complete and replaces an \
      existing one; with --resume it grows line by line. - is standard output.
      """)
  static let resume = Flag(
    "resume",
    abstract: """
      Continue the file of --output: images that have a line in it are skipped, and an unfinished last line is written \
      again. For JSON and CSV. A file is refused and left unchanged where one of its results was made with another model, \
      other options or other metadata. In JSON, imageSHA256 is compared too: a result of an image that has changed since \
      is refused. CSV has no hash, so a changed image is not noticed.
      """)
  static let timing = Flag("timing", abstract: "Add the time that each image took to the output.")
}
