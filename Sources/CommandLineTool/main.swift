import Commands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Not `CommandLine.arguments`, which puts other characters in the place of what is not UTF-8.
let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
  .compactMap { $0 }.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: strlen($0))) }

exit(Tool.dermafusion.run(words, session: Session(terminal: .system())).rawValue)
