import Foundation
import TestFiles
import TestModels
import Testing

@testable import Commands
@testable import DermaFusion
@testable import Evaluation

/// The groups of `evaluate`, the units of its intervals, and its figures as a table.
@Suite struct EvaluateGroupTests {
  let folder = TemporaryFolder()

  /// 24 images of as many lesions, two to a patient unless all are of one; the first four have no device.
  private func words(patient: (Int) -> String = { "P\($0 / 2)" }) -> [String] {
    var rows = "image_id,dx,Patient_ID,\"Device, maker\",skin_tone\n"
    for index in 0..<24 {
      folder.write(pnm(seed: 7 * index), to: "images/i\(index).ppm")
      let device = index < 4 ? ["", "NA", "nan", " "][index] : "\"A \"\"1\"\"\""
      rows += "i\(index),\(index % 3 == 0 ? "mel" : "nv"),\(patient(index)),\(device),\(index % 2)\n"
    }
    let labels = folder.write(rows, to: "labels.csv")
    return ["--labels", labels, "--images", "\(folder.path)/images", "--quiet"]
  }

  private func runEvaluate(_ words: [String]) -> ToolResult { runTool(words: ["evaluate"] + words) }

  private func json(_ words: [String]) throws -> [String: Any] {
    let result = runEvaluate(words + ["--format", "json"])
    #expect(result.errors == "")
    return try result.object()
  }

  @Test func aColumnThatIsNamedMakesGroups() throws {
    var words = words()
    words[1] = folder.write(
      try #require(folder.text(of: "labels.csv"))
        .replacing("\"Device, maker\"", with: "Device"), to: "labels.csv")
    let json = try json(words + ["--group", "device, SKIN_TONE"])
    let groups = try #require(json["subgroups"] as? [String: [[String: Any]]])
    func told(_ name: String) throws -> [String] {
      try #require(groups[name]).map { "\($0["name"]!) \($0["n"]!) \($0["status"]!)" }
    }
    #expect(try told("device") == ["A \"1\" 20 sufficient", "missing 4 insufficient"])
    #expect(try told("SKIN_TONE") == ["0 12 insufficient", "1 12 insufficient"])
    #expect(runEvaluate(words + ["--group", "device"]).output.contains("\ndevice  A \"1\""))
  }

  @Test(arguments: ["sex", "skin_tone,Confirmation", "skin_tone,,device", "", "skin_tone,SKIN_TONE", "All"])
  func groupsThatCannotBeAreRefused(value: String) {
    let result = runEvaluate(words() + ["--group", value])
    result.expect(.usage, part: "age, sex, site, source, confirmation are grouped by anyway")
  }

  @Test func aColumnThatIsNotThereIsNamed() {
    let result = runEvaluate(words() + ["--group", "camera"])
    #expect(result.status == .failure)
    #expect(
      result.errors.hasSuffix(
        "labels.csv: the column 'camera' is missing; the header has 'image_id', 'dx', 'Patient_ID', 'Device, maker', 'skin_tone'\n"
      ), "\(result.errors)")
  }

  @Test func intervalsAreDrawnByPatientWhereTheTableTellsThem() throws {
    func drawn(_ json: [String: Any]) -> String? {
      (json["bootstrap"] as? [String: Any])?["drawn"] as? String
    }
    let pairs = try json(words())
    #expect(drawn(pairs) == "patients" && pairs["lesions"] as? Int == 24)
    #expect(pairs["negativeLogLikelihoodCI"] is [Double])
    // Nothing can be drawn of one patient alone.
    let one = try json(words { _ in "P" })
    #expect(drawn(one) == "patients" && one["negativeLogLikelihoodCI"] is NSNull)
    let none = try json(words { _ in "" })
    #expect(drawn(none) == "images" && none["negativeLogLikelihoodCI"] is [Double])
    #expect(none["negativeLogLikelihood"] as? Double == pairs["negativeLogLikelihood"] as? Double)
    #expect(runEvaluate(words()).output.contains("by resampling patients; "))
    let units = try #require(pairs["bootstrap"] as? [String: Any])["units"] as? Int
    #expect(units == 12)
    #expect(
      runEvaluate(words { $0 < 6 ? "P" : "" }).output.contains(
        "by resampling patients, and images where none is named; "))
  }

  /// Every plot with intervals says what was drawn.
  @Test(arguments: [("P", "patient"), ("", "image")])
  func plotsNameWhatWasDrawn(patient: String, drawn: String) throws {
    let words = words { patient.isEmpty ? "" : "\(patient)\($0 / 2)" }
    #expect(runEvaluate(words + ["--plots", "\(folder.path)/plots"]).status == .success)
    for (name, text) in [
      ("precision-recall", ">by \(drawn), for each recall<"), ("reliability", ">by \(drawn)<"),
    ] {
      let plot = try #require(folder.text(of: "plots/\(name).svg"))
      #expect(plot.contains(text) && !plot.contains("by lesion"), "\(name)")
    }
  }

  /// One of two contradicting labels is wrong, so the lesion is named; so is a lesion that joins two patients.
  @Test func aLesionWithTwoLabelsOrTwoPatientsIsNamed() throws {
    for name in ["a", "b", "c", "d"] { folder.write(pnm(), to: "images/\(name).ppm") }
    let labels = folder.write(
      "image_id,lesion_id,patient_id,dx\na,L1,P1,nv\nb,L1,P2,mel\nc,L2,P2,nv\nd,L3,P3,nv\n", to: "labels.csv")
    let result = runEvaluate(
      ["--labels", labels, "--images", "\(folder.path)/images", "--format", "json"])
    #expect(result.status == .success)
    #expect(
      result.errors.contains(
        """
        Note: \(labels): a lesion has two labels: the lesion 'L1' is 'nv' on line 2 and 'mel' on line 3. Each row counts \
        by its own label.

        """), "\(result.errors)")
    #expect(
      result.errors.contains(
        "Note: \(labels): the lesion 'L1' belongs to 2 patients, 'P1', 'P2'. Patients that share a lesion are drawn"
      ))
    #expect(result.output.contains(#""drawn":"patients","units":2,"#))
  }

  @Test func everyFigureIsALineOfTheTable() throws {
    let words = words() + ["--group", "skin_tone"]
    let json = try json(words)
    let lines = runEvaluate(words + ["--format", "csv"]).output.split(separator: "\n").map(String.init)
    #expect(lines[0] == "grouping,group,class,figure,value,ci_low,ci_high,n,drawn")
    let value = try #require(json["negativeLogLikelihood"] as? Double)
    let interval = try #require(json["negativeLogLikelihoodCI"] as? [Double])
    let cells = try #require(lines.first { $0.hasPrefix("all,all,,negativeLogLikelihood,") }).split(
      separator: ",")
    let numbers = cells.dropFirst(3).compactMap { Double($0) }
    // Foundation reads a number to its last digit but one.
    #expect(zip(numbers, [value] + interval + [24]).allSatisfy { abs($0 - $1) < 1e-12 }, "\(cells)")
    let classes = try #require(json["perClass"] as? [String: [String: Any]])
    let recall = try #require(classes["mel"]?["recall"] as? Double)
    #expect(lines.contains { $0.hasPrefix("all,all,mel,recall,\(recall),") && $0.hasSuffix(",8,patients") })
    // No image of it: undefined, not 0.
    #expect(lines.contains("all,all,df,recall,,,,0,patients"))
    #expect(lines.contains("skin_tone,1,,accuracy,,,,12,patients"))
    #expect(lines.allSatisfy { $0.count(where: { $0 == "," }) == 8 })
  }
}
