import SystemModule
import Testing

@Suite struct MemoryProbeTests {
  /// An optimising compiler leaves out an allocation by malloc that nobody uses; the answer was always yes then.
  @Test func moreThanTheAddressSpaceIsRefused() {
    #expect(MemoryProbe.canAllocate(byteCount: 0))
    #expect(MemoryProbe.canAllocate(byteCount: 1 << 20))
    #expect(!MemoryProbe.canAllocate(byteCount: 1 << 60))
    #expect(!MemoryProbe.canAllocate(byteCount: .max))
  }
}
