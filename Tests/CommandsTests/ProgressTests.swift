import SystemModule
import TestFiles
import Testing

@testable import Commands

@Suite struct ProgressTests {
  private func terminal(
    _ errors: MemoryOutput, width: Int? = nil, showsProgress: Bool = true, isQuiet: Bool = false
  ) -> Terminal {
    var terminal = memoryTerminal(errors: errors, width: width, showsProgress: showsProgress)
    terminal.isQuiet = isQuiet
    return terminal
  }

  @Test func saysHowManyHowFastHowLongAndWhatFailed() {
    let errors = MemoryOutput()
    let time = Locked(0.0)
    var progress = Progress(terminal: terminal(errors), total: 900, clock: { time.withLock { $0 } })
    #expect(errors.text.hasSuffix("\r0 of 900 images\u{1B}[K"))
    for index in 0..<45 {
      time.withLock { $0 += 0.1 }
      progress.advance(failed: index == 7 || index == 9)
    }
    #expect(
      errors.text.hasSuffix("\r45 of 900 images, 10.0 a second, 1 min 26 s left, 2 failed\u{1B}[K"),
      "\(errors.text)")
    progress.clear()
    #expect(errors.text.hasSuffix("\r\u{1B}[K"))
  }

  @Test func slowItemsAreToldInSecondsEach() {
    let progress = {
      var progress = Progress(terminal: terminal(MemoryOutput()), total: 5, clock: { 0 })
      progress.advance()
      progress.advance()
      return progress
    }()
    #expect(progress.text(elapsed: 7) == "2 of 5 images, 3.5 s each, 11 s left")
    #expect(progress.text(elapsed: 0.2) == "2 of 5 images")
  }

  @Test(arguments: [20, 41, 80])
  func neverFillsALine(width: Int) {
    var progress = Progress(terminal: terminal(MemoryOutput(), width: width), total: 100_000, clock: { 0 })
    for _ in 0..<77 { progress.advance(failed: true) }
    #expect(progress.text(elapsed: 100).count < width)
  }

  @Test func isSilentWhereNobodyLooksAndForASingleItem() {
    for (showsProgress, total, isQuiet) in [(false, 9, false), (true, 1, false), (true, 9, true)] {
      let errors = MemoryOutput()
      var progress = Progress(
        terminal: terminal(errors, showsProgress: showsProgress, isQuiet: isQuiet), total: total, clock: { 0 }
      )
      progress.advance()
      progress.pause {}
      progress.clear()
      #expect(errors.text == "")
    }
  }

  @Test func makesRoomForWhatElseIsWritten() {
    let errors = MemoryOutput()
    var progress = Progress(terminal: terminal(errors), total: 3, clock: { 0 })
    progress.pause { try? errors.write(Array("Error: a.png\n".utf8)) }
    #expect(errors.text == "\r0 of 3 images\u{1B}[K\r\u{1B}[KError: a.png\n\r0 of 3 images\u{1B}[K")
  }

  @Test(arguments: [
    (0.2, "1 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3600, "1 h"), (7505, "2 h 5 min"),
  ])
  func durationsAreTold(seconds: Double, text: String) {
    #expect(Progress.duration(seconds) == text)
  }
}
