import ImagePipeline
import TestImages
import Testing

@testable import DermaFusion

extension AbstentionTests {
  @Test func theFirstChangeToAFrameIsAdvised() {
    func advice(_ image: PixelImage, _ more: [AbstentionReason] = []) -> FrameAdvice? {
      FrameAdvice(reasons(image) + more, distance: image.darkPartDistance)
    }
    let good = lesion(edge: 4, detail: 6)
    #expect(advice(good) == nil)
    #expect(advice(blurredLesion) == .holdStill)
    #expect(advice(lesion(edge: 4, detail: 6, light: 0.15)) == .moreLight)
    #expect(advice(image { _, _, _ in 250 }) == .lessLight)
    #expect(advice(image { x, _, channel in 90 + 0.4 * x + 10 * Double(2 - channel) }) == .findLesion)
    #expect(advice(good, [.blurred, .notDermoscopic]) == .useDermatoscope)
    for centre in [(22.0, 98.0), (100, 90), (95, 20)] {
      let shifted = lesion(edge: 4, detail: 6, at: centre)
      #expect(advice(shifted) == .centre, "\(centre)")
      #expect(advice(shifted, [.blurred]) == .centre)
    }
    // The black corners that a dermatoscope leaves lie aside too.
    let round = image { x, y, channel in
      let far = (x - 60) * (x - 60) + (y - 60) * (y - 60) > 58 * 58
      return far && x < 60 ? 0 : Double(good.pixels[(Int(y) * Self.side + Int(x)) * 3 + channel])
    }
    #expect(round.darkPartDistance! < FrameAdvice.farthest)
    #expect(PixelImage.solid(width: 40, height: 40, 9, 8, 7).darkPartDistance == nil)
  }
}
