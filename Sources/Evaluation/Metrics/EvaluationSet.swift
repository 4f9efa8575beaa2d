import DermaFusion
import SystemModule

/// One image of a test list, with what the model made of it.
package struct EvaluatedImage: Sendable, Equatable {
  /// An image's weights, as the columns of an ISIC challenge's ground truth have them: finite and at least 0.
  package struct Weights: Sendable, Equatable {
    /// `score_weight`, in all figures.
    package let score: Double
    /// `validation_weight`, in figures of their own; nil where the list has none.
    package let validation: Double?

    package init(score: Double = 1, validation: Double? = nil) {
      self.score = score
      self.validation = validation
    }
  }

  package let lesion: String
  /// The images that are drawn together with this one.
  package let unit: ChanceUnit
  /// Its label in the list.
  package let label: LesionLabel
  /// 0...1, summing to 1; those that mean little where the model abstained, too.
  package let probabilities: ClassScores
  /// The model's input besides the image.
  package let metadata: PatientMetadata
  /// The image's source, a folder for instance.
  package let source: String
  /// Its weight.
  package let weights: Weights
  /// The cells of other columns of the list, by the name of the column; what is missing there is missing here.
  package let cells: [String: String]
  /// The model's abstention, and its set of classes.
  package let abstention: Abstention

  /// - Parameter unit: the lesion if it is not given.
  package init(
    lesion: String, label: LesionLabel, probabilities: ClassScores, metadata: PatientMetadata = .unknown,
    source: String = "", unit: ChanceUnit? = nil, weights: Weights = Weights(), cells: [String: String] = [:],
    abstention: Abstention = .none
  ) {
    self.lesion = lesion
    self.label = label
    self.probabilities = probabilities
    self.metadata = metadata
    self.source = source
    self.unit = unit ?? ChanceUnit(.lesions, lesion)
    self.weights = weights
    self.cells = cells
    self.abstention = abstention
  }

  var prediction: LesionLabel { probabilities.highest }
  /// The greatest probability.
  var confidence: Double { Double(probabilities[prediction]) }
}

/// Images prepared to be measured as often as intervals need: ranked once, counted under any weights.
package struct EvaluationSet: Sendable {
  /// Bins of the greatest probability, in which calibration is measured.
  package static let calibrationBinCount = 15

  /// Images whose greatest probability lies in one bin.
  package struct CalibrationBin: Sendable, Equatable {
    package var imageCount = 0
    /// Sums over the images, each by its weight.
    package var weight = 0.0
    package var correctWeight = 0.0
    package var confidenceSum = 0.0

    /// Nil without an image.
    package var accuracy: Double? { weight > 0 ? correctWeight / weight : nil }
    /// The mean greatest probability.
    package var confidence: Double { confidenceSum / weight }
  }

  /// At least one, all classified by models of the same labels.
  package let images: [EvaluatedImage]
  package let labels: Labels
  let labelIndices: [Int]
  let predictions: [Int]
  /// The weight of each image, above 0.
  let imageWeights: [Double]
  /// Images and labels whose probability is above a half.
  let overHalf: [(image: Int, label: Int)]
  private let confidences: [Double]
  /// -ln of each label's probability.
  let losses: [Double]
  /// For each of ``Metric/riskLevels``, whether each image reaches it.
  let reachesRisk: [[Bool]]
  let scores: [RankedScores]
  let malignantScores: RankedScores

  /// - Parameters:
  ///   - images: at least one of a weight above 0; the others are left out.
  ///   - weight: how much an image counts.
  package init(_ images: [EvaluatedImage], weight: (EvaluatedImage) -> Double = { $0.weights.score }) {
    let images = images.filter { weight($0) > 0 }
    precondition(!images.isEmpty, "a set of no images")
    self.images = images
    imageWeights = images.map(weight)
    let labels = images[0].probabilities.labels
    self.labels = labels
    labelIndices = images.map { $0.label.index }
    predictions = images.map { $0.prediction.index }
    overHalf = images.enumerated().flatMap { place, image in
      labels.indices.filter { image.probabilities.values[$0] > 0.5 }.map { (place, $0) }
    }
    confidences = images.map { $0.confidence }
    losses = images.map { -Mathematics.log(Double($0.probabilities[$0.label]) + 1e-12) }
    reachesRisk = Metric.riskLevels.map { level in
      images.map { image in RiskLevel(probabilities: image.probabilities).map { $0 >= level } ?? false }
    }
    scores = labels.map { label in
      RankedScores(
        scores: images.map { Double($0.probabilities[label]) },
        isPositive: images.map { $0.label.index == label.index })
    }
    let malignant = labels.filter(Metric.RiskGroup.malignant.holds)
    malignantScores = RankedScores(
      scores: images.map { image in malignant.reduce(0) { $0 + Double(image.probabilities[$1]) } },
      isPositive: images.map { Metric.RiskGroup.malignant.holds($0.label) })
  }

  /// The number of images of each class (row) that were predicted as each (column), in the order of ``labels``, whatever their weight.
  package func confusionMatrix() -> [[Int]] {
    confusionMatrix(weights: ones.map { Double($0) }).map { $0.map { Int($0) } }
  }

  /// The bins of calibration, from 0 to 1.
  package func calibrationBins() -> [CalibrationBin] {
    calibrationBins(weights: imageWeights)
  }

  /// The ROC curve of one class against the rest; empty when it has none or all of the images.
  package func curve(of label: LesionLabel) -> [RankedScores.Point] {
    scores[label.index].curve(weights: imageWeights)
  }

  /// The metrics' values; those that are undefined are missing.
  ///
  /// - Parameters:
  ///   - metrics: all that get intervals where none are named.
  ///   - weights: how often each image is drawn; once where they are not given.
  package func values(of metrics: [Metric]? = nil, weights: [Int]? = nil) -> [Metric: Double] {
    let metrics = metrics ?? Metric.all(labels)
    let values = list(of: metrics, weights: weights ?? ones)
    return Dictionary(
      uniqueKeysWithValues: zip(metrics, values).compactMap { metric, value in value.map { (metric, $0) } })
  }

  /// The value of each metric; `nil` for all where no image is drawn.
  ///
  /// - Parameter weights: how often each image is drawn.
  func list(of metrics: [Metric], weights: [Int]) -> [Double?] {
    guard let tally = Tally(self, weights: drawn(weights)) else { return metrics.map { _ in nil } }
    return metrics.map { $0.applies(to: labels) ? $0.compute(tally) : nil }
  }

  /// The 95 % interval by unit of chance of each metric that has one: by ``Bootstrap``, and where that shows none for a share, by
  /// ``ExactInterval``.
  package func intervals(of metrics: [Metric]? = nil) -> [Metric: ClosedRange<Double>] {
    let metrics = metrics ?? Metric.all(labels)
    let drawn = Bootstrap.intervals(units: units, count: metrics.count) {
      list(of: metrics, weights: $0)
    }
    let values = list(of: metrics, weights: ones)
    let unitOfEach = NameGroups(units).ofEach
    var intervals: [Metric: ClosedRange<Double>] = [:]
    for (place, metric) in metrics.enumerated() {
      intervals[metric] =
        drawn[place] ?? values[place].flatMap { exactInterval(of: metric, share: $0, unitOfEach) }
    }
    return intervals
  }

  private func exactInterval(
    of metric: Metric, share: Double, _ unitOfEach: [Int]
  ) -> ClosedRange<Double>? {
    guard let isCounted = metric.isCounted else { return nil }
    let counted = Set(unitOfEach.indices.filter { isCounted(self, $0) }.map { unitOfEach[$0] })
    return counted.isEmpty ? nil : ExactInterval.ofShare(share, units: counted.count)
  }

  /// A question with two answers whose precision is shown against its recall.
  package enum Question: Sendable, Equatable {
    /// One class against the rest.
    case label(LesionLabel)
    /// Malignant or pre-malignant against benign.
    case malignant
  }

  /// Precision at recalls from 0 to 1, with 95 % intervals by unit of chance where there are any.
  package struct PrecisionCurve: Sendable {
    package let recalls: [Double]
    package let precisions: [Double?]
    package let intervals: [ClosedRange<Double>?]
    /// The share of positive images by weight, which guessing would reach.
    package let prevalence: Double
  }

  package func precisionCurve(of question: Question) -> PrecisionCurve {
    let ranked = if case .label(let label) = question { scores[label.index] } else { malignantScores }
    let recalls = (1...40).map { Double($0) / 40 }
    return PrecisionCurve(
      recalls: recalls, precisions: ranked.precisions(atRecalls: recalls, weights: imageWeights),
      intervals: Bootstrap.intervals(units: units, count: recalls.count) {
        ranked.precisions(atRecalls: recalls, weights: drawn($0))
      }, prevalence: ranked.totals(imageWeights).positive / imageWeights.reduce(0, +))
  }

  /// For each of ``calibrationBins()``, the 95 % interval of its accuracy by unit of chance, where there is one.
  package func calibrationIntervals() -> [ClosedRange<Double>?] {
    Bootstrap.intervals(units: units, count: Self.calibrationBinCount) { weights in
      self.calibrationBins(weights: drawn(weights)).map(\.accuracy)
    }
  }

  /// The unit of each image.
  package var units: [ChanceUnit] { images.map(\.unit) }

  private var ones: [Int] { [Int](repeating: 1, count: images.count) }

  /// The weights of images that are drawn so often.
  private func drawn(_ times: [Int]) -> [Double] { zip(times, imageWeights).map { Double($0) * $1 } }

  func confusionMatrix(weights: [Double]) -> [[Double]] {
    let count = labels.count
    var matrix = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
    for image in labelIndices.indices { matrix[labelIndices[image]][predictions[image]] += weights[image] }
    return matrix
  }

  func calibrationBins(weights: [Double]) -> [CalibrationBin] {
    let count = Self.calibrationBinCount
    var bins = [CalibrationBin](repeating: CalibrationBin(), count: count)
    for image in labelIndices.indices {
      // A probability of 1 belongs to the last bin.
      let bin = min(Int(confidences[image] * Double(count)), count - 1)
      bins[bin].imageCount += 1
      bins[bin].weight += weights[image]
      if labelIndices[image] == predictions[image] { bins[bin].correctWeight += weights[image] }
      bins[bin].confidenceSum += weights[image] * confidences[image]
    }
    return bins
  }
}
