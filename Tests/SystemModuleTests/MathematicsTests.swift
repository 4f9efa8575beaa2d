import Foundation
import SystemModule
import Testing

@Suite struct MathematicsTests {
  @Test func theExponentialIsTheCLibrarysButForTheLastPlace() {
    var x = -745.1
    while x < 709.7 {
      let (found, expected) = (Mathematics.exp(x), Foundation.exp(x))
      #expect(abs(found - expected) <= expected.ulp, "exp(\(x)) is \(found) for \(expected)")
      x += 0.3717
    }
    for x in [0, 1, -1, 0.5, 1e-300, -1e-17, 0.346_573_59, -0.346_573_6] {
      #expect(abs(Mathematics.exp(x) - Foundation.exp(x)) <= Foundation.exp(x).ulp, "\(x)")
    }
    #expect(Mathematics.exp(0) == 1)
  }

  @Test func theExponentialHasItsLimits() {
    #expect(Mathematics.exp(.infinity) == .infinity && Mathematics.exp(710) == .infinity)
    #expect(Mathematics.exp(-.infinity) == 0 && Mathematics.exp(-746) == 0)
    #expect(Mathematics.exp(.nan).isNaN)
    #expect(Mathematics.exp(709.7).isFinite && Mathematics.exp(-745) > 0)
  }
}
