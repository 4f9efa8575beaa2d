import SystemModule

/// Why a model's files cannot be used. Each description is one line that names the file and the broken rule.
package enum ModelFileError: Error, Equatable, Sendable {
  /// The model's folder does not exist.
  case folderMissing(path: String)
  /// The path given for the model's folder is a file.
  case notAFolder(path: String)
  /// The model's folder lacks a file.
  case fileMissing(name: String, folder: String)
  /// A file cannot be read.
  case file(FileError)
  /// The file's SHA-256 is not the one that the folder's `SHA256SUMS` states.
  case checksumMismatch(path: String, expected: String, found: String)
  /// The folder's `SHA256SUMS` has no line for a file of the model.
  case checksumMissing(path: String, name: String)
  /// A line of the folder's `SHA256SUMS` is not a SHA-256 and a name; lines count from 1.
  case malformedChecksum(path: String, line: Int)
  /// The file breaks a rule of the safetensors format.
  case safetensors(file: String, SafetensorsError)
  /// The file breaks a rule of the model configuration.
  case configuration(file: String, ConfigurationError)
  /// The network needs a tensor that the file does not have.
  case missingTensor(file: String, name: String)
  /// The tensor has another shape than the network needs.
  case misshapenTensor(file: String, name: String, expected: [Int], found: [Int])
  /// The tensor's elements are of a type that its layer cannot use.
  case wrongDataType(file: String, name: String, found: String, expected: String)
  /// A tensor of a quantised layer breaks a rule, given in words.
  case unusableQuantization(file: String, name: String, rule: String)
  /// The network cannot be computed in the precision that the configuration or the caller asks for; a rule in words.
  case unusablePrecision(file: String, rule: String)
  /// The last layer's outputs are not as many as the configuration's classes.
  case outputCount(file: String, name: String, outputs: Int, classes: Int)
  /// The tensor has a NaN or an infinity; the index counts elements in the order stored, the
  /// value is "NaN", "infinity" or "-infinity".
  case nonFiniteValue(file: String, name: String, index: Int, value: String)
  /// The four tensors below this name make a batch norm that multiplies a channel by, or adds to it, what is no finite
  /// number: most likely the variance is negative.
  case unusableBatchNorm(file: String, name: String, channel: Int, variance: Float)
  /// The file has tensors that the network does not use.
  case surplusTensors(file: String, names: [String])
}

extension ModelFileError: CustomStringConvertible {
  /// The file and the broken rule, in one line.
  package var description: String {
    switch self {
    case .folderMissing(let path):
      "\(path): there is no such model folder"
    case .notAFolder(let path):
      "\(path): a model is a folder, and this is a file"
    case .fileMissing(let name, let folder):
      "\(folder): the model folder lacks \(name)"
    case .file(let error): error.description
    case .checksumMismatch(let path, let expected, let found):
      "\(path): the SHA-256 is \(found), and the folder's \(ModelChecksums.fileName) states \(expected): the file is "
        + "damaged, or was replaced without its checksum"
    case .checksumMissing(let path, let name):
      "\(path): there is no line for \(name)"
    case .malformedChecksum(let path, let line):
      "\(path): line \(line) must be a SHA-256 of 64 hexadecimal digits, two spaces and a file's name"
    case .safetensors(let file, let error):
      "\(file): \(error)"
    case .configuration(let file, let error):
      "\(file): \(error)"
    case .missingTensor(let file, let name):
      "\(file): the tensor \(quoted(name)) is missing"
    case .misshapenTensor(let file, let name, let expected, let found):
      "\(file): the tensor \(quoted(name)) has shape \(inWords(found)), and the network needs \(expected)"
    case .wrongDataType(let file, let name, let found, let expected):
      "\(file): the tensor \(quoted(name)) has the data type \(quoted(found)), and the network needs \(expected)"
    case .unusableQuantization(let file, let name, let rule):
      "\(file): the tensor \(quoted(name)) \(rule)"
    case .unusablePrecision(let file, let rule):
      "\(file): \(rule)"
    case .outputCount(let file, let name, let outputs, let classes):
      "\(file): the last layer \(quoted(name)) has \(outputs) outputs, and config.json lists \(classes) classes"
    case .nonFiniteValue(let file, let name, let index, let value):
      "\(file): the tensor \(quoted(name)) has the value \(value) at index \(index); every value must be finite"
    case .unusableBatchNorm(let file, let name, let channel, let variance):
      "\(file): the batch norm \(quoted(name)) makes no finite numbers of channel \(channel), whose variance "
        + "(\(quoted("\(name).running_var"))) is \(variance)"
    case .surplusTensors(let file, let names):
      "\(file): the network has no place for "
        + (names.count == 1
          ? "the tensor \(quoted(names[0]))" : "\(names.count) tensors: \(Self.list(names))")
    }
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(3).map(quoted).joined(separator: ", ") + (names.count > 3 ? ", ..." : "")
  }
}
