import CDermaFusion
import DermaFusion

extension ImageRequest {
  /// What a C program asks for.
  init(_ request: dermafusion_request) throws(DermaFusionError) {
    self.init()
    guard request.symmetries <= 1, request.calling_thread_only <= 1, request.reserved == 0 else {
      throw .argument(
        """
        the request's symmetries (\(request.symmetries)) and calling_thread_only (\(request.calling_thread_only)) must be 0 \
        or 1, and reserved (\(request.reserved)) 0
        """, remedy: "Set the request by dermafusion_request_init first.")
    }
    views = request.symmetries == 1 ? .symmetries : .upright
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
