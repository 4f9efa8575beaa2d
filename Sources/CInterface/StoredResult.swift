import CDermaFusion
import DermaFusion
import ExplanationModule

/// A result in memory that C programs read.
///
/// `@unchecked Sendable`: the memory is written before anyone else has the object, and freed with it.
final class StoredResult: @unchecked Sendable {
  private let classification: Classification?
  private let json: UnsafeMutablePointer<CChar>
  private let jsonSize: Int
  private let summary: UnsafeMutablePointer<CChar>
  private let disclaimer: UnsafeMutablePointer<CChar>
  private let probabilities: UnsafeMutableBufferPointer<Float>
  private let logits: UnsafeMutableBufferPointer<Float>
  private let maps: [StoredMap]

  /// - Parameter json: the result as text.
  init(_ classification: Classification?, json text: String, maps: [ActivationMap] = []) {
    self.classification = classification
    json = CText.copy(text)
    jsonSize = text.utf8.count
    summary = CText.copy(classification?.summary ?? "")
    disclaimer = CText.copy(Wording.disclaimer)
    probabilities = StoredMap.copy(classification?.probabilities.values ?? [])
    logits = StoredMap.copy(classification?.logits.values ?? [])
    self.maps = maps.map { StoredMap($0) }
  }

  deinit {
    [json, summary, disclaimer].forEach { $0.deallocate() }
    probabilities.deallocate()
    logits.deallocate()
  }

  /// Valid as long as this object.
  var view: dermafusion_view {
    var view = dermafusion_view()
    view.size = UInt32(MemoryLayout<dermafusion_view>.size)
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
  func map(_ index: UInt32) throws(Failure) -> dermafusion_map {
    guard maps.indices.contains(Int(index)) else {
      throw .argument(
        "map \(index) of a result with \(maps.count) maps",
        remedy: "Ask for one of the view's map_count maps, counted from 0.")
    }
    return maps[Int(index)].view
  }
}

/// An activation map in memory that C programs read.
private final class StoredMap {
  private let map: ActivationMap
  private let values: UnsafeMutableBufferPointer<Float>
  private let signedValues: UnsafeMutableBufferPointer<Float>

  init(_ map: ActivationMap) {
    self.map = map
    values = Self.copy(map.values)
    signedValues = Self.copy(map.signedValues)
  }

  deinit {
    values.deallocate()
    signedValues.deallocate()
  }

  static func copy(_ values: [Float]) -> UnsafeMutableBufferPointer<Float> {
    let copy = UnsafeMutableBufferPointer<Float>.allocate(capacity: values.count)
    _ = copy.initialize(from: values)
    return copy
  }

  var view: dermafusion_map {
    var view = dermafusion_map()
    view.size = UInt32(MemoryLayout<dermafusion_map>.size)
    view.class_index = Int32(map.classIndex)
    view.status = Int32(Self.code(map.status))
    view.side = UInt32(map.size)
    view.values = UnsafePointer(values.baseAddress)
    view.signed_values = UnsafePointer(signedValues.baseAddress)
    view.signed_height = UInt32(map.height)
    view.signed_width = UInt32(map.width)
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
