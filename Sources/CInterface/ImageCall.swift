import CDermaFusion
import DermaFusion
import ImageFiles
import SystemModule

/// One image on its way through a classifier.
struct ImageCall {
  private let classifier: Classifier
  private let request: ImageRequest

  /// - Parameter request: nil: nothing known, nothing special.
  init(
    _ classifier: dermafusion_classifier, _ request: UnsafePointer<dermafusion_request>?, explains: Bool
  ) throws(DermaFusionError) {
    let open = try Handles.classifier(classifier)
    self.classifier = open.classifier
    let known = try request.map { request throws(DermaFusionError) in try Self.known(request) }
    var language = open.language.withLock { $0 }
    if let name = try CText.read(known?.language, "language") {
      language = try ImageRequest.language(named: name)
    }
    var wanted = try language.wording { () throws(DermaFusionError) in
      try known.map { known throws(DermaFusionError) in try ImageRequest(known) } ?? ImageRequest()
    }
    wanted.language = language
    wanted.explains = explains
    self.request = wanted
  }

  /// The size of `dermafusion_request` in the header's first version.
  static let firstRequestSize = MemoryLayout<dermafusion_request>.offset(of: \.language)!

  /// The request, of which a program with an older header has the beginning.
  private static func known(
    _ request: UnsafePointer<dermafusion_request>
  ) throws(DermaFusionError) -> dermafusion_request {
    let size = request.pointee.size
    try requireSize(size, atLeast: firstRequestSize, "request")
    var known = dermafusion_request()
    withUnsafeMutableBytes(of: &known) {
      let count = min(Int(size), $0.count)
      $0.copyMemory(from: UnsafeRawBufferPointer(start: request, count: count))
    }
    return known
  }

  func answer(file: [UInt8]) throws(DermaFusionError) -> CResult {
    try request.language.wording { () throws(DermaFusionError) in
      CResult(try classifier.run(request, onFile: file))
    }
  }

  func answer(_ image: PixelImage) throws(DermaFusionError) -> CResult {
    try request.language.wording { () throws(DermaFusionError) in
      CResult(try classifier.run(request, on: image))
    }
  }
}

extension ImageRequest {
  /// The request of a C program.
  init(_ request: dermafusion_request) throws(DermaFusionError) {
    self.init()
    guard request.symmetries <= 1, request.calling_thread_only <= 1 else {
      throw .argument(
        """
        the request's symmetries (\(request.symmetries)) and calling_thread_only (\(request.calling_thread_only)) must be 0 or 1
        """, remedy: "Set the request by dermafusion_request_init first.")
    }
    views = request.symmetries == 1 ? .symmetries : .upright
    usesCallingThreadOnly = request.calling_thread_only == 1
    frame = request.frame == 0 ? nil : Int(request.frame)
    imageName = try CText.read(request.name, "name") ?? ""
    layer = try CText.read(request.map_layer, "map_layer")
    let sexName = try CText.read(request.sex, "sex")
    let siteName = try CText.read(request.site, "site")
    let methodName = try CText.read(request.map_method, "map_method")
    switch try CText.read(request.map_class, "map_class") {
    case nil: classes = .top
    case "all": classes = .all
    case .some(let name): classes = .named([name])
    }
    metadata = try PatientMetadata(
      ageInYears: request.age.isNaN ? nil : request.age,
      sex: sexName == nil ? .unknown : Self.sex(named: sexName!),
      site: siteName == nil ? .unknown : Self.site(named: siteName!))
    method = try methodName == nil ? .gradcam : Self.method(named: methodName!, key: "map_method")
  }
}
