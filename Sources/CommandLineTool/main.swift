import Commands
import Foundation

exit(
  Tool.dermafusion.run(Array(CommandLine.arguments.dropFirst()), session: Session(terminal: .system()))
    .rawValue)
