import Faults
import Phone
import Plan

/// What can be the value of an option or an operand, as a shell can complete it.
enum CompletionForm {
    /// Nothing that a shell could know: a number, a time, a name.
    case unknown
    case file
    case folder
    case scenario
    case words([String])

    /// The form of the value of an option; nil for a switch.
    init?(_ option: Option) {
        guard let placeholder = option.value else { return nil }
        switch placeholder {
        case "FILE": self = .file
        case "DIR": self = .folder
        case "NAMES": self = .words(ProfileTable.all.map(\.name))
        case "LINK": self = .words(LinkPreset.all.map(\.name))
        case "ORDER": self = .words(["fixed", "shuffled"])
        case "SOURCE": self = .words(["file", "swarm", "pairs"])
        default:
            let words = placeholder.split(separator: "|").map(String.init)
            self = words.count > 1 ? .words(words) : .unknown
        }
    }

    /// The form of the operands of a command.
    init(operandsOf command: Command) {
        switch command.usage {
        case "SCENARIO", "SCENARIO...", "[SCENARIO]": self = .scenario
        case "PLAN", "[FILE]", "IN.jpg OUT.jpg": self = .file
        case "RUNDIR", "RUNDIR...", "BASE NEW", "DIR": self = .folder
        case "[NAME [NAME]]": self = .words(ProfileTable.all.map(\.name))
        default:
            let words = command.usage.split(separator: "|").map(String.init)
            self = words.count > 1 ? .words(words) : .unknown
        }
    }
}
