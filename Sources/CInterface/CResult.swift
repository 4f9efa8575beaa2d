import CDermaFusion
import DermaFusion
import Figures
import ImageFiles
import SystemModule

/// A result in memory that C programs read.
///
/// `@unchecked Sendable`: the memory is written before anyone else has the object, and freed with it.
final class CResult: @unchecked Sendable {
  private let classification: Classification?
  private let json: UnsafeMutablePointer<CChar>
  private let jsonSize: Int
  private let summary: UnsafeMutablePointer<CChar>
  private let disclaimer: UnsafeMutablePointer<CChar>
  private let probabilities: UnsafeMutableBufferPointer<Float>
  private let logits: UnsafeMutableBufferPointer<Float>
  private let features: UnsafeMutableBufferPointer<Float>
  private let maps: [StoredMap]
  private let explanation: Explanation?
  /// The language of the texts.
  private let language: Language
  /// The image's file name, for the picture.
  private let fileName: String?
  /// The explanation as a PNG file, once it was asked for.
  private let picture = Locked<StoredPicture?>(nil)

  convenience init(_ answer: ImageAnswer) {
    let imageName = answer.request.imageName
    let language = answer.request.language
    self.init(
      answer.classification, language: language,
      json: answer.classification.json(imageName: imageName, language: language),
      features: answer.output.pooled, explanation: answer.request.explains ? answer.explanation : nil,
      imageName: imageName)
  }

  /// - Parameters:
  ///   - json: the result as text.
  ///   - features: `[channels]`; empty for an ensemble.
  ///   - imageName: a path, or empty.
  init(
    _ classification: Classification?, language: Language = .english, json text: String,
    features: [Float] = [], explanation: Explanation? = nil, imageName: String = ""
  ) {
    self.classification = classification
    self.explanation = explanation
    self.language = language
    // By bytes: as a character, a slash that an accent follows is another one.
    fileName = imageName.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) }
    json = CText.copy(text)
    jsonSize = text.utf8.count
    summary = CText.copy(classification?.summary(in: language) ?? "")
    disclaimer = CText.copy(language.disclaimer)
    probabilities = StoredMap.copy(classification?.probabilities.values ?? [])
    logits = StoredMap.copy(classification?.logits.values ?? [])
    self.features = StoredMap.copy(features)
    maps = (explanation?.maps ?? []).map { StoredMap($0) }
  }

  deinit {
    for text in [json, summary, disclaimer] { text.deallocate() }
    probabilities.deallocate()
    logits.deallocate()
    features.deallocate()
  }

  /// The maps over the photograph, as `dermafusion gradcam` writes them: a PNG file, valid as long as this object.
  func drawn() throws(DermaFusionError) -> UnsafeBufferPointer<UInt8> {
    guard let explanation else {
      throw .argument("the result has no maps to draw", remedy: "Ask for a picture of an explanation.")
    }
    if let drawn = picture.withLock({ $0 }) { return drawn.bytes }
    var style = FigureStyle()
    style.language = language
    let drawn = StoredPicture(try explanation.png(style, imageName: fileName))
    // If two threads draw at once, the first one's picture stays.
    return picture.withLock { picture in
      if picture == nil { picture = drawn }
      return picture!
    }.bytes
  }

  /// The sizes of `dermafusion_view` and `dermafusion_map` in the header's first version; both have grown since.
  static let firstViewSize = MemoryLayout<dermafusion_view>.offset(of: \.features)!
  static let firstMapSize = MemoryLayout<dermafusion_map>.offset(of: \.placed_values)!

  /// Valid as long as this object.
  var view: dermafusion_view {
    var view = dermafusion_view()
    view.class_count = UInt32(probabilities.count)
    view.probabilities = UnsafePointer(probabilities.baseAddress)
    view.logits = UnsafePointer(logits.baseAddress)
    view.prediction = classification?.prediction.map { Int32($0.index) } ?? -1
    view.concern = classification?.answer?.concern.map { Int32($0.index) } ?? -1
    view.risk = Int32(Self.code(classification?.risk))
    view.abstains = classification?.abstains == true ? 1 : 0
    view.is_confidence_low = classification?.confidence == .low ? 1 : 0
    view.map_count = UInt32(maps.count)
    view.json = UnsafePointer(json)
    view.json_size = UInt64(jsonSize)
    view.summary = UnsafePointer(summary)
    view.disclaimer = UnsafePointer(disclaimer)
    view.features = features.isEmpty ? nil : UnsafePointer(features.baseAddress)
    view.feature_count = UInt64(features.count)
    return view
  }

  private static func code(_ risk: RiskLevel?) -> Int {
    switch risk {
    case nil: DERMAFUSION_RISK_NONE
    case .low: DERMAFUSION_RISK_LOW
    case .moderate: DERMAFUSION_RISK_MODERATE
    case .high: DERMAFUSION_RISK_HIGH
    }
  }

  /// The map at a place from 0, valid as long as this object.
  func map(_ index: UInt32) throws(DermaFusionError) -> dermafusion_map {
    guard maps.indices.contains(Int(index)) else {
      throw .argument(
        "map \(index) of a result with \(maps.count) maps",
        remedy: "Ask for one of the view's map_count maps, counted from 0.")
    }
    return maps[Int(index)].view
  }
}

/// A picture's file in memory that C programs read.
private final class StoredPicture: @unchecked Sendable {
  let bytes: UnsafeBufferPointer<UInt8>

  init(_ content: [UInt8]) {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: content.count)
    _ = copy.initialize(from: content)
    bytes = UnsafeBufferPointer(copy)
  }

  deinit { bytes.deallocate() }
}

/// An activation map in memory that C programs read.
private final class StoredMap {
  private let map: ActivationMap
  private let values: UnsafeMutableBufferPointer<Float>
  private let signedValues: UnsafeMutableBufferPointer<Float>
  private let placedValues: UnsafeMutableBufferPointer<Float>

  init(_ map: ActivationMap) {
    self.map = map
    values = Self.copy(map.values)
    signedValues = Self.copy(map.signedValues)
    placedValues = Self.copy(map.placedValues)
  }

  deinit {
    values.deallocate()
    signedValues.deallocate()
    placedValues.deallocate()
  }

  static func copy(_ values: [Float]) -> UnsafeMutableBufferPointer<Float> {
    let copy = UnsafeMutableBufferPointer<Float>.allocate(capacity: values.count)
    _ = copy.initialize(from: values)
    return copy
  }

  var view: dermafusion_map {
    var view = dermafusion_map()
    view.class_index = Int32(map.classIndex)
    view.status = Int32(Self.code(map.status))
    view.side = UInt32(map.size)
    view.values = UnsafePointer(values.baseAddress)
    view.signed_values = UnsafePointer(signedValues.baseAddress)
    view.signed_height = UInt32(map.height)
    view.signed_width = UInt32(map.width)
    view.placed_values = UnsafePointer(placedValues.baseAddress)
    return view
  }

  private static func code(_ status: ActivationMap.Status) -> Int {
    switch status {
    case .ok: DERMAFUSION_MAP_OK
    case .allNegative: DERMAFUSION_MAP_ALL_NEGATIVE
    case .flat: DERMAFUSION_MAP_FLAT
    }
  }
}
