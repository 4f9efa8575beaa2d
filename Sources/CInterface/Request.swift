import CDermaFusion
import DermaFusion
import ExplanationModule

/// What a C program knows of the patient and wants to know of the image.
struct Request {
  var metadata = PatientMetadata.unknown
  var views = ImageViews.upright
  var usesCallingThreadOnly = false
  /// What the JSON calls the image.
  var name = ""
  /// A class, `all`, or nil for the likeliest.
  var mapClass: String?
  var method = ActivationMapMethod.gradcam
  var layer: String?

  /// - Parameter pointer: nil: nothing known, nothing special.
  init(_ pointer: UnsafePointer<dermafusion_request>?) throws(Failure) {
    guard let pointer else { return }
    try requireSize(pointer.pointee.size, of: dermafusion_request.self, "request")
    let request = pointer.pointee
    guard request.symmetries <= 1, request.calling_thread_only <= 1, request.reserved == 0 else {
      throw .argument(
        """
        the request's symmetries (\(request.symmetries)) and calling_thread_only (\(request.calling_thread_only)) must be 0 \
        or 1, and reserved (\(request.reserved)) 0
        """, remedy: "Set the request by dermafusion_request_init first.")
    }
    views = request.symmetries == 1 ? .symmetries : .upright
    usesCallingThreadOnly = request.calling_thread_only == 1
    let sex = try Self.choice(request.sex, "sex", of: Sex.allCases.map { $0.rawValue }) { Sex(name: $0) }
    let site = try Self.choice(request.site, "site", of: BodySite.allCases.map { $0.rawValue }) {
      BodySite(name: $0)
    }
    metadata = try converting { () throws(DermaFusionError) in
      try PatientMetadata(
        ageInYears: request.age.isNaN ? nil : request.age, sex: sex ?? .unknown, site: site ?? .unknown)
    }
    name = try CText.read(request.name, "name") ?? ""
    mapClass = try CText.read(request.map_class, "map_class")
    layer = try CText.read(request.map_layer, "map_layer")
    if let name = try CText.read(request.map_method, "map_method") {
      guard let method = ActivationMapMethod(rawValue: name) else {
        throw .argument(
          "map_method is '\(name)'",
          remedy: "Give one of \(ActivationMapMethod.allCases.map { $0.rawValue }.joined(separator: ", ")).")
      }
      self.method = method
    }
  }

  private static func choice<Value>(
    _ pointer: UnsafePointer<CChar>?, _ name: String, of names: [String], _ make: (String) -> Value?
  ) throws(Failure) -> Value? {
    guard let text = try CText.read(pointer, name) else { return nil }
    guard let value = make(text) else {
      throw Failure(
        DERMAFUSION_INVALID_METADATA,
        message: "\(name) '\(text)' is none of \(names.joined(separator: ", "))",
        remedy: "Give one of the names, or none where it is not known.")
    }
    return value
  }
}

/// Checks the size that a C program writes into a struct: at least that of the struct's first version, which all are still.
func requireSize<Struct>(_ size: UInt32, of type: Struct.Type, _ name: String) throws(Failure) {
  guard Int(size) >= MemoryLayout<Struct>.size else {
    throw .argument(
      "the \(name)'s size is \(size), not \(MemoryLayout<Struct>.size)",
      remedy: "Set size to the sizeof of the struct.")
  }
}
