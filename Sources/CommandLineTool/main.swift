import Commands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

exit(
  Tool.dermafusion.run(Array(CommandLine.arguments.dropFirst()), session: Session(terminal: .system()))
    .rawValue)
