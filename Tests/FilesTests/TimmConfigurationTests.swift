import Foundation
import ImagePipeline
import SystemModule
import Testing

@testable import Files

/// timm's `config.json`, as `save_for_hf` writes it.
@Suite struct TimmConfigurationTests {
  static func text(
    architecture: String = "mobilenetv3_small_100", labels: String = #""label_names": ["a", "b", "c"],"#,
    count: Int = 3, more: String = "", settings: String = #""input_size": [3, 192, 192]"#
  ) -> String {
    """
    {"architecture": "\(architecture)", "num_classes": \(count), "num_features": 576, "global_pool": "avg", \(labels) \(more)
     "pretrained_cfg": {"tag": "lamb_in1k", "first_conv": "conv_stem", "num_classes": 1000, \(settings)}}
    """
  }

  func parse(_ text: String) throws -> ModelConfiguration {
    try ModelConfiguration(parsing: Array(text.utf8))
  }

  @Test func itsTransformIsTaken() throws {
    let found = try parse(
      Self.text(
        settings: """
          "input_size": [3, 260, 260], "test_input_size": [3, 288, 288], "interpolation": "lanczos", "crop_pct": 0.89,
          "test_crop_pct": 1.0, "crop_mode": "border", "mean": [0.5, 0.25, 0.125], "std": 0.5
          """))
    #expect(
      found.preprocessing
        == PreprocessingConfiguration(
          size: 260, colorConstancy: .none, mean: [0.5, 0.25, 0.125], standardDeviation: [0.5, 0.5, 0.5],
          framing: .timm(.border, share: 0.89), interpolation: .lanczos))
    #expect(found.name == "mobilenetv3_small_100.lamb_in1k" && found.architecture == "mobilenetv3_small_100")
    #expect(found.abstention == nil && found.fusion == nil && found.temperature == 1 && found.isTimms)
  }

  @Test func whatItLeavesOutIsTimmsDefault() throws {
    let found = try parse(Self.text(settings: #""mean": null, "interpolation": null, "custom_load": false"#))
    #expect(
      found.preprocessing
        == PreprocessingConfiguration(
          size: 224, colorConstancy: .none, mean: [0.485, 0.456, 0.406],
          standardDeviation: [0.229, 0.224, 0.225], framing: .timm(.center, share: 0.875),
          interpolation: .bicubic))
  }

  @Test func namesOfOldAndByNumberAreTaken() throws {
    let old =
      #"{"architecture": "resnet18", "num_classes": 2, "labels": ["x", "y"], "input_size": [3, 128, 128]}"#
    #expect(try parse(old).classes.map(\.id) == ["x", "y"])
    let numbered = Self.text(labels: #""label_names": {"1": "b", "2": "c", "0": "a"},"#)
    #expect(try parse(numbered).classes.map(\.id) == ["a", "b", "c"])
    let inside = Self.text(labels: "", settings: #""label_names": ["k", "l", "m"]"#)
    #expect(try parse(inside).classes.map(\.id) == ["k", "l", "m"])
  }

  @Test func descriptionsAreTheNamesOfTheClasses() throws {
    let inRoot = Self.text(more: #""label_descriptions": {"a": "Melanoma", "c": "Keratosis", "z": "none"},"#)
    #expect(try parse(inRoot).classes.map(\.name) == ["Melanoma", "b", "Keratosis"])
    #expect(try parse(inRoot).classes.map(\.id) == ["a", "b", "c"])
    let inside = Self.text(settings: #""label_descriptions": {"b": "Nevus"}"#)
    #expect(try parse(inside).classes.map(\.name) == ["a", "Nevus", "c"])
    let transformers = Self.text(labels: #""id2label": {"2": "c", "0": "LABEL", "1": "b"},"#)
    #expect(try parse(transformers).classes.map(\.id) == ["LABEL", "b", "c"])
  }

  /// Each way in which a configuration says that several classes may be right at once.
  @Test(arguments: [
    #""task": "multilabel""#, #""task": "Multi-Label Classification""#,
    #""problem_type": "multi_label_classification""#, #""multi_label": true"#, #""is_multilabel": 1"#,
    #""multi-label": "yes""#, #""loss": "zlpr""#, #""loss_fn": "AsymmetricLossMultiLabel""#,
    #""activation": "sigmoid""#, #""function_to_apply": "Sigmoid""#, #""head": {"kind": "multi label"}"#,
    #""heads": [{"multilabel": true}]"#,
  ])
  func aMultiLabelHeadIsKnownByAnyOfItsWords(member: String) throws {
    for text in [Self.text(more: member + ","), Self.text(settings: member)] {
      let found = try parse(text)
      #expect(found.outputs == .multiLabel && found.outputCount == 3)
    }
  }

  @Test func aRegressionIsRefusedByItsKey() {
    let member = #""problem_type": "regression""#
    for text in [Self.text(more: member + ","), Self.text(labels: "", count: 0, settings: member)] {
      let error = #expect(throws: DermaFusionError.self) { try parse(text) }
      #expect(
        error?.message.contains(#"problem_type" is "regression": the outputs are measurements"#) == true)
    }
  }

  /// Its sigmoid is the probability of the class that is named.
  @Test(arguments: ["", #""task": "multilabel","#, #""activation": "sigmoid","#])
  func oneOutputIsTheNamedClassAndAnother(more: String) throws {
    let labels =
      #""label_names": ["Nevus"], "label_descriptions": {"Nevus": "A nevus", "other": "No nevus"},"#
    let found = try parse(Self.text(labels: labels, count: 1, more: more))
    #expect(found.outputs == .yesOrNo && found.outputCount == 1)
    #expect(found.classes.map(\.id) == ["Nevus", "other"])
    #expect(found.classes.map(\.name) == ["A nevus", "No nevus"])
    let numbered = try parse(Self.text(labels: #""id2label": {"0": "mel"},"#, count: 1))
    #expect(numbered.classes.map(\.id) == ["mel", "other"])
  }

  @Test func aKeyOfOursSaysWhatIsMalignant() throws {
    func text(_ told: String) -> String { Self.text(more: #""label_malignancy": \#(told),"#) }
    let found = try parse(text(#"{"b": "malignant", "a": "benign", "c": "pre-malignant"}"#))
    #expect(found.classes.map(\.malignancy) == [.benign, .malignant, .preMalignant])
    #expect(try parse(text("null")).classes.allSatisfy { $0.malignancy == nil })
    for (told, part) in [
      (#"{"a": "benign", "b": "malignant"}"#, #""label_malignancy.c" is missing"#),
      (#"{"a": "benign", "b": "bad", "c": "benign"}"#, #""label_malignancy.b" is "bad", and must be one of"#),
      (#"{"a": "benign", "b": "benign", "c": "benign", "d": "benign"}"#, #""label_malignancy.d" is unknown"#),
    ] {
      let error = #expect(throws: DermaFusionError.self) { try parse(text(told)) }
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }

  @Test(arguments: ["", #""label_names": ["a", "b", "c"],"#])
  func aNetworkWithoutALastLayerHasNoClasses(labels: String) throws {
    let found = try parse(Self.text(labels: labels, count: 0))
    #expect(found.outputs == .none && found.outputCount == 0 && found.classes.isEmpty)
  }

  /// timm trains single labels with a binary cross-entropy too; names and prose say nothing of the head.
  @Test(arguments: [
    #""task": "single_label""#, #""multi_label": false"#, #""multilabel": null"#, #""loss": "bce""#,
    #""problem_type": "single_label_classification""#, #""activation": "softmax""#,
    #""act_layer": "sigmoid""#,
    #""description": "not a multi-label model""#, #""label_descriptions": {"a": "multilabel"}"#,
  ])
  func aHeadOfOneClassOfSeveralIsTaken(member: String) throws {
    let found = try parse(Self.text(more: member + ","))
    #expect(found.classes.count == 3 && found.outputs == .oneOfSeveral)
  }

  @Test func theNetworkIsTheFirstRule() throws {
    let names = ["resnet18", "resnet50", "efficientnet_b0", "mobilenetv3_small_100"]
    let broken = #""global_pool": "token", "model_args": {"img_size": 196, "in_chans": 1},"#
    func refusal(_ text: String) -> String {
      let error = #expect(throws: DermaFusionError.self) {
        try ModelFolder(configuration: Array(text.utf8), weights: Self.counted, architectures: names)
      }
      return error?.message ?? ""
    }
    let text =
      #"{"architecture": "resnet34.a1_in1k", "num_classes": 1, \#(broken) "pretrained_cfg": {}}"#
    #expect(
      refusal(text)
        == #"config.json: "architecture" is "resnet34", which is not one of the 4 networks that can be run; the nearest are resnet18, resnet50, efficientnet_b0"#
    )
    #expect(refusal(text.replacingOccurrences(of: "resnet34", with: "resnet18")).contains("img_size"))
    let other = ModelConfigurationTests.valid.replacingOccurrences(
      of: #""efficientnet_lite2""#, with: #""resnet18.a1_in1k""#)
    #expect(refusal(other).contains(#""architecture" is "resnet18.a1_in1k""#))
    #expect(
      refusal(#"{"architectures": ["ViTForImageClassification"], "model_type": "vit", "id2label": {}}"#)
        .contains(#"a "vit" of transformers"#))
  }

  @Test func tensorFlowsNetworksPadAsTensorFlow() throws {
    for (name, padding, epsilon) in [
      ("tf_efficientnet_lite0", ModelConfiguration.Padding.same, 1e-3),
      ("efficientnet_lite0", .symmetric, 1e-5),
      ("efficientnet_b0.ra_in1k", .symmetric, 1e-5),
    ] {
      let found = try parse(Self.text(architecture: name))
      #expect(found.padding == padding && found.batchNormEpsilon == epsilon, "\(name)")
    }
    #expect(try parse(Self.text(architecture: "efficientnet_b0.ra_in1k")).architecture == "efficientnet_b0")
  }

  @Test(
    arguments: [
      (Self.text(labels: ""), #"there are no "label_names""#),
      (Self.text(count: 4), #""label_names" has 3 names, and "num_classes" is 4"#),
      (
        Self.text(labels: #""id2label": {"0": "a", "1": "b"},"#),
        #""id2label" has 2 names, and "num_classes" is 3"#
      ),
      (
        #"{"architecture": "resnet18", "pretrained_cfg": {"num_classes": 5, "label_names": ["a", "b"]}}"#,
        #""pretrained_cfg.label_names" has 2 names, and "pretrained_cfg.num_classes" is 5"#
      ),
      (Self.text(labels: #""label_names": ["a", "b", "a"],"#), #""label_names" has "a" twice"#),
      (Self.text(labels: #""labels": ["a", "b", "a"],"#), #""labels" has "a" twice"#),
      (Self.text(labels: #""label_names": {"0": "a", "1": "b", "3": "c"},"#), "none for the output 2"),
      (
        Self.text(more: #""model_args": {"num_classes": 4},"#),
        #""num_classes" is 3, and "model_args.num_classes" is 4; they must be the same"#
      ),
      (
        Self.text(more: #""model_args": {"global_pool": "token"},"#),
        #""global_pool" is "avg", and "model_args.global_pool" is "token"; they must be the same"#
      ),
      (Self.text(more: #""model_args": {"bn_eps": 0.1},"#), #""model_args.bn_eps" changes the network"#),
      (
        Self.text(more: #""model_args": {"in_chans": 1},"#),
        #""model_args.in_chans" says that its images have 1 channel, and photographs have 3"#
      ),
      (
        Self.text(settings: #""input_size": [3, 224, 192]"#), #""pretrained_cfg.input_size" is [3, 224, 192]"#
      ),
      (
        Self.text(settings: #""input_size": [1, 224, 224]"#),
        #""pretrained_cfg.input_size" says that its images have 1 channel"#
      ),
      (
        Self.text(labels: "", count: 1),
        #"nobody can tell what the one output stands for; name the class whose probability is the output's sigmoid: "label_names": ["NAME"]"#
      ),
      (
        Self.text(labels: #""label_names": ["benign", "mel"],"#, count: 1),
        #""label_names" has 2 names, and "num_classes" is 1; name the class"#
      ),
      (Self.text(labels: #""label_names": ["other"],"#, count: 1), #""other", which is the other class"#),
      (
        Self.text(labels: "", count: 0, more: #""model_args": {"in_chans": 4},"#),
        #""model_args.in_chans" says that its images have 4 channels, and photographs have 3"#
      ),
      (Self.text(labels: #""id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},"#), "--classes"),
      (Self.text(settings: #""interpolation": "nearest""#), "bilinear, bicubic, lanczos"),
      (Self.text(settings: #""crop_pct": 1.5"#), #""pretrained_cfg.crop_pct" is 1.5"#),
      (Self.text(settings: #""crop_mode": "fill""#), "center, squash, border"),
      (Self.text(settings: #""mean": [0.5, 0.5]"#), "3 numbers"),
    ])
  func anErrorNamesTheKey(text: String, part: String) {
    let error = #expect(throws: DermaFusionError.self) { try parse(text) }
    #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
  }

  @Test func dropRatesAndTheUsualArgumentsChangeNothing() throws {
    let arguments =
      #"{"in_chans": 3, "num_classes": 3, "global_pool": "avg", "drop_rate": 0.3, "drop_path_rate": 0.1, "attn_drop_rate": null, "zero_init_last": false}"#
    #expect(try parse(Self.text(more: #""model_args": \#(arguments),"#)).classes.count == 3)
  }

  @Test func thePoolingAndTheSizeOfTheImagesAreRead() throws {
    func text(_ arguments: String) -> String {
      Self.text(more: #""model_args": \#(arguments),"#)
    }
    #expect(try parse(Self.text(more: "")).pooling == .average)
    let token = text(#"{"img_size": [192, 192], "global_pool": "token"}"#)
      .replacingOccurrences(of: #""global_pool": "avg", "#, with: "")
    #expect(try parse(token).pooling == .token)
    #expect(try parse(text(#"{"img_size": 192}"#)).pooling == .average)
    for (arguments, key) in [
      (#"{"img_size": 256}"#, "model_args.img_size"), (#"{"img_size": [192, 224]}"#, "model_args.img_size"),
      (#"{"global_pool": "token"}"#, "model_args.global_pool"),
      (#"{"global_pool": "map"}"#, "model_args.global_pool"),
    ] {
      let error = #expect(throws: DermaFusionError.self) { try parse(text(arguments)) }
      #expect(error?.message.contains(key) == true, "\(arguments): \(error?.message ?? "")")
    }
  }

  /// timm's `load_model_config_from_path` repairs such a file, which older versions wrote for a network made at another size.
  @Test func aNetworkOfOneSizeHasThatOfItsArguments() throws {
    func size(_ arguments: String, fixed: String = "true") throws -> Int {
      let settings = #""input_size": [3, 518, 518], "fixed_input_size": \#(fixed)"#
      return try parse(Self.text(more: #""model_args": \#(arguments),"#, settings: settings)).preprocessing
        .size
    }
    #expect(try size(#"{"img_size": [252, 252]}"#) == 252)
    #expect(try size(#"{"img_size": 252}"#) == 252)
    #expect(try size(#"{"img_size": null}"#) == 518)
    #expect(try size(#"{"img_size": 252, "dynamic_img_size": true}"#) == 518)
    #expect(try size(#"{"strict_img_size": false, "img_size": [252, 252]}"#) == 518)
    #expect(try size(#"{"dynamic_img_size": false, "img_size": 252}"#) == 252)
    for (arguments, fixed) in [(#"{"img_size": 252}"#, "false"), (#"{"img_size": [252, 518]}"#, "true")] {
      let error = #expect(throws: DermaFusionError.self) { try size(arguments, fixed: fixed) }
      #expect(error?.message.contains(#""model_args.img_size" is [252"#) == true, "\(error?.message ?? "")")
    }
  }

  @Test func ourOwnFormTellsATransformToo() throws {
    let own = ModelConfigurationTests.valid
    let plain = try parse(own)
    #expect(plain.preprocessing.framing == .square && plain.preprocessing.interpolation == .bilinear)
    #expect(plain.preprocessing.keepsCentreSquare)
    let timms = own.replacingOccurrences(
      of: #""mean""#, with: #""crop_mode": "squash", "crop_pct": 0.9, "interpolation": "bicubic", "mean""#)
    let found = try parse(timms).preprocessing
    #expect(found.framing == .timm(.squash, share: 0.9) && found.interpolation == .bicubic)
    let error = #expect(throws: DermaFusionError.self) {
      try parse(own.replacingOccurrences(of: #""mean""#, with: #""crop_pct": 0.9, "mean""#))
    }
    #expect(error?.message.contains("preprocessing.crop_mode") == true)
  }
}
