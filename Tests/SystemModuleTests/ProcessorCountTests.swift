import Testing

@testable import SystemModule

@Suite struct ProcessorCountTests {
  @Test(arguments: [
    ("0", 1), ("0-3", 4), ("0-3,8", 5), ("2,4-5,7-7", 4), ("0-127", 128), ("5\n", 1),
  ])
  func cpuListsAreCounted(list: String, count: Int) {
    let status = "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t\(list)\nMems_allowed_list:\t0-1\n"
    #expect(ProcessorCount.cpusAllowed(status: status) == count)
  }

  @Test(arguments: [
    "", "Name:\tx\n", "Cpus_allowed_list:\t\n", "Cpus_allowed_list:\tx\n", "Cpus_allowed_list:\t3-1\n",
    "Cpus_allowed_list:\t0-1,,x\n",
  ])
  func whatIsNotACPUListGivesNothing(status: String) {
    #expect(ProcessorCount.cpusAllowed(status: status) == nil)
  }

  @Test(arguments: [
    ("150000 100000\n", 2), ("100000 100000", 1), ("50000 100000", 1), ("1 100000", 1), ("200000 100000", 2),
    ("200001 100000", 3), ("1600000 100000", 16), ("150000\n 100000\n", 2),
  ])
  func quotasAreRoundedUp(text: String, cpus: Int) {
    #expect(ProcessorCount.quota(cpuMax: text) == cpus)
  }

  @Test(arguments: [
    "max 100000\n", "", "100000", "-1 100000", "100000 0", "100000 -5", "a b", "1 2 3", "nan 100000",
    "100000 nan", "inf 100000", "1e300 1",
  ])
  func noQuotaGivesNothing(text: String) {
    #expect(ProcessorCount.quota(cpuMax: text) == nil)
  }

  @Test func theCountIsPositive() {
    #expect(ProcessorCount.available() >= 1)
  }
}
