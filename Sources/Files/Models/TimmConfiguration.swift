import ImagePipeline
import SystemModule

// The `config.json` of timm, as its `save_for_hf` and `push_to_hf_hub` write it: the architecture, the classes and, under
// `pretrained_cfg`, the evaluation's transform. It is read as timm 1.0 reads it, with timm's defaults. A key that changes
// the network is an error; one that only describes the model is passed over.

extension ConfigurationObject {
  /// True if this is what timm writes.
  var isTimms: Bool {
    !hasValue("format_version")
      && (hasValue("pretrained_cfg") || (hasValue("architecture") && hasValue("num_classes")))
  }

  /// Checks that the network is one of those that can be run, whatever else the file says.
  func requireArchitecture(of names: [String]) throws(DermaFusionError) {
    if case .string(let found) = self["architecture"], hasValue("format_version") || isTimms {
      // The words behind the point name timm's weights.
      let name = isTimms ? found.split(separator: ".").first.map { String($0) } ?? found : found
      if !names.contains(name) { throw .unknownArchitecture(name, of: names) }
    } else if !hasValue("format_version"), case .string(let type) = self["model_type"] {
      throw .invalidModel(
        "this is the configuration of a \(quoted(type)) of transformers, whose own networks cannot be run; timm's can, inside transformers too (timm_wrapper)"
      )
    }
  }
}

extension ModelConfiguration {
  /// A model of timm: without metadata, without limits of its own, at the temperature 1.
  init(timm object: ConfigurationObject) throws(DermaFusionError) {
    var root = object
    // Before timm 0.9 all keys stood in the root.
    var settings = root.hasValue("pretrained_cfg") ? try root.object("pretrained_cfg") : root
    let fullName = try root.text("architecture")
    let baseName = fullName.split(separator: ".").first.map { String($0) } ?? fullName
    architecture = baseName
    name = try settings.hasValue("tag") ? "\(baseName).\(settings.text("tag"))" : fullName
    version = "unversioned"
    // timm's `tf_` networks are TensorFlow's; all others, efficientnet_lite too, are PyTorch's.
    let isTensorFlows = architecture.hasPrefix("tf_")
    padding = isTensorFlows ? .same : .symmetric
    batchNormEpsilon = isTensorFlows ? 1e-3 : 1e-5
    precision = .float32
    var preprocessing = try PreprocessingConfiguration(timm: &settings)
    let isFixed = settings["fixed_input_size"] == .bool(true)
    pooling = try Self.knownPooling(&root, size: &preprocessing.size, isFixed: isFixed)
    self.preprocessing = preprocessing
    (classes, outputs) = try Self.classes(timm: &root, &settings)
    temperature = 1
    (sexes, sites) = ([], [])
    fusion = nil
    abstention = nil
    isTimms = true
  }

  /// Checks that nothing asks for another network than the architecture's own, and reads the words on the pooling.
  ///
  /// - Parameter size: The side of the images; that of the arguments where the network takes no other (timm's
  ///   `load_model_config_from_path`).
  private static func knownPooling(
    _ root: inout ConfigurationObject, size: inout Int, isFixed: Bool
  ) throws(DermaFusionError) -> Pooling? {
    var pooling: Pooling? = try root.hasValue("global_pool") ? root.choice("global_pool") : nil
    guard root.hasValue("model_args") else { return pooling }
    var arguments = try root.object("model_args")
    let isFlexible =
      arguments["dynamic_img_size"] == .bool(true) || arguments["strict_img_size"] == .bool(false)
    for member in arguments.members where member.value != .null {
      let key = member.key
      switch key {
      case "in_chans":
        let count = try arguments.integer(key, in: 0...Int.max)
        guard count == 3 else { throw .inputChannels(count, key: arguments.fullKey(key)) }
      case "num_classes":
        if root.hasValue("num_classes") {
          let count = try root.integer("num_classes", in: 0...Int.max)
          let other = try arguments.integer(key, in: 0...Int.max)
          if other != count { throw .disagreeing(key, "\(count)", arguments.fullKey(key), "\(other)") }
        }
      case "global_pool":
        let other: Pooling = try arguments.choice(key)
        if let pooling, pooling != other {
          throw .disagreeing(
            key, quoted(pooling.rawValue), arguments.fullKey(key), quoted(other.rawValue))
        }
        pooling = other
      case "img_size":
        var sides: [Int] = []
        if case .array = member.value {
          sides = try arguments.integers(key, in: PreprocessingConfiguration.sizes)
        } else {
          sides = [try arguments.integer(key, in: PreprocessingConfiguration.sizes)]
        }
        // Positions are then resampled from this size to that of the images.
        if isFlexible { break }
        if isFixed, let side = sides.first, sides.allSatisfy({ $0 == side }) { size = side }
        guard sides.allSatisfy({ $0 == size }) else {
          throw .outOfRange(
            key: arguments.fullKey(key), value: "\(sides)", rule: "\(size), the side in \"input_size\"")
        }
      case "dynamic_img_size", "strict_img_size": break
      // For the training alone.
      case "drop_path_rate", "drop_block_rate", "zero_init_last", "weight_init", "fix_init", "bn_momentum":
        break
      case _ where key.hasSuffix("drop_rate"): break
      default:
        throw .invalidModel(
          "\(quoted(arguments.fullKey(key))) changes the network, and only the architectures as timm names them can be computed"
        )
      }
    }
    return pooling
  }

  /// The name, in results of a network with one output, of the class that is not the named one.
  package static let otherClass = "other"

  /// `label_names` in the order of the outputs, and how these become probabilities.
  private static func classes(
    timm root: inout ConfigurationObject, _ settings: inout ConfigurationObject
  ) throws(DermaFusionError) -> ([Class], Outputs) {
    let isMultiLabel = try root.isMultiLabel()
    let inRoot = root.hasValue("num_classes")
    let count =
      try inRoot
      ? root.integer("num_classes", in: 0...Int.max) : settings.integer("num_classes", in: 0...Int.max)
    if count == 0 { return ([], .none) }
    let remedy: Sentence =
      count == 1
      ? "name the class whose probability is the output's sigmoid: \"label_names\": [\"NAME\"]"
      : "name them: python -m dermafusion_training export --checkpoint FOLDER --classes A,B,... --output NEW"
    var found = try root.labelNames()
    if found == nil { found = try settings.labelNames() }
    guard let (key, names) = found else {
      let outputs: Sentence = count == 1 ? "one output stands" : "\(count) outputs stand"
      throw .invalidModel(
        "there are no \"label_names\", so nobody can tell what the \(outputs) for; \(remedy)")
    }
    guard names.count == count else {
      throw .invalidModel(
        "\(quoted(key)) has \(names.count) names, and \(quoted((inRoot ? root : settings).fullKey("num_classes"))) is \(count); \(remedy)"
      )
    }
    if count == 1, names[0] == otherClass {
      throw .invalidModel("\(quoted(key)) is \"\(otherClass)\", which is the other class; \(remedy)")
    }
    var descriptions = try root.labelDescriptions()
    if descriptions.isEmpty { descriptions = try settings.labelDescriptions() }
    var classes = named(count == 1 ? names + [otherClass] : names)
    for index in classes.indices {
      classes[index].name = descriptions[classes[index].id] ?? classes[index].name
    }
    classes = try checked(classes, key: key)
    try root.tellMalignancies(of: &classes)
    return (classes, count == 1 ? .yesOrNo : isMultiLabel ? .multiLabel : .oneOfSeveral)
  }
}

extension ConfigurationObject {
  /// The names of the classes in words, by their short names.
  fileprivate mutating func labelDescriptions() throws(DermaFusionError) -> [String: String] {
    guard case .object = self["label_descriptions"] else { return [:] }
    return try textsByKey("label_descriptions")
  }

  /// `label_malignancy`, a key of ours that timm keeps: what a lesion of each class is.
  fileprivate mutating func tellMalignancies(
    of classes: inout [ModelConfiguration.Class]
  ) throws(DermaFusionError) {
    guard hasValue("label_malignancy") else { return }
    var told = try object("label_malignancy")
    for index in classes.indices { classes[index].malignancy = try told.choice(classes[index].id) }
    try told.requireNoOtherKeys()
  }

  /// The names of a model's outputs, which timm keeps as a list or by their number, and transformers by their number; nil
  /// where there are none.
  fileprivate mutating func labelNames() throws(DermaFusionError) -> (key: String, names: [String])? {
    guard let key = ["label_names", "labels", "id2label"].first(where: { hasValue($0) }) else { return nil }
    var names: [String] = []
    if case .object = self[key] {
      let byNumber = try textsByKey(key)
      for index in 0..<byNumber.count {
        guard let name = byNumber["\(index)"] else {
          throw .invalidModel(
            "\(quoted(fullKey(key))) has \(byNumber.count) names and none for the output \(index)")
        }
        names.append(name)
      }
    } else {
      names = try texts(key)
    }
    // The name that transformers fills in where nobody has named the classes.
    return names.first == "LABEL_0" ? nil : (fullKey(key), names)
  }
}

extension PreprocessingConfiguration {
  /// timm's evaluation transform (`resolve_data_config`, `transforms_imagenet_eval`) at the size of the training.
  init(timm settings: inout ConfigurationObject) throws(DermaFusionError) {
    var size = 224
    if settings.hasValue("input_size") {
      let shape = try settings.integers("input_size", in: 1...2048)
      if shape.count == 3, shape[0] != 3 {
        throw .inputChannels(shape[0], key: settings.fullKey("input_size"))
      }
      guard shape.count == 3, shape[0] == 3, shape[1] == shape[2], Self.sizes.contains(shape[1]) else {
        throw .outOfRange(
          key: settings.fullKey("input_size"), value: "\(shape)",
          rule: "[3, S, S] with S in \(Self.sizes.lowerBound)...\(Self.sizes.upperBound)")
      }
      size = shape[1]
    }
    let mode: Framing.CropMode = try settings.hasValue("crop_mode") ? settings.choice("crop_mode") : .center
    let share = try settings.hasValue("crop_pct") ? settings.number("crop_pct", .cropShare) : 0.875
    self.init(
      size: size, colorConstancy: .none,
      mean: try settings.channels("mean", .pixelShift) ?? [0.485, 0.456, 0.406],
      standardDeviation: try settings.channels("std", .pixelDivisor) ?? [0.229, 0.224, 0.225],
      framing: .timm(mode, share: share),
      interpolation: try settings.hasValue("interpolation") ? settings.choice("interpolation") : .bicubic)
  }
}

extension ConfigurationObject {
  /// A number for each channel, or one for all; nil where there is none.
  fileprivate mutating func channels(
    _ key: String, _ rule: NumberRule
  ) throws(DermaFusionError) -> [Double]? {
    guard hasValue(key) else { return nil }
    if case .number = self[key] { return [Double](repeating: try number(key, rule), count: 3) }
    let values = try numbers(key, rule)
    if values.count == 1 { return [Double](repeating: values[0], count: 3) }
    return try numbers(key, count: 3, rule)
  }
}
