package import SimBase

/// What a fault of the phone does. It acts on a phone for as long as its `PhoneWindow` is open.
package enum PhoneFault: Hashable, Sendable {
    /// The phone has no path: nothing leaves it and nothing reaches it, and no goodbye is said.
    case offline
    /// Another network: every connection is dead without a close, and a new path is there when the window ends.
    case handover
    /// The app is in the background.
    case background
    /// The process dies and is started again when the window ends.
    case kill
    /// The app is removed with its storage and installed again when the window ends: a new device id.
    case reinstall
    /// The wall clock is wrong by this much.
    case clockSkew(by: Interval)
    /// Nothing can be written to the phone's storage.
    case storageFull

    /// The name in scenario files and ids.
    package var name: String {
        switch self {
        case .offline: "offline"
        case .handover: "handover"
        case .background: "background"
        case .kill: "kill"
        case .reinstall: "reinstall"
        case .clockSkew: "clock-skew"
        case .storageFull: "storage-full"
        }
    }

    /// Whether a phone's requests arrive as always while it lasts.
    package var sparesThePath: Bool {
        switch self {
        case .offline, .handover: false
        case .background, .kill, .reinstall, .clockSkew, .storageFull: true
        }
    }

    /// Whether it is something that a user does with the app, or that happens to it while it is used.
    package var needsApp: Bool {
        switch self {
        case .background, .kill, .reinstall: true
        case .offline, .handover, .clockSkew, .storageFull: false
        }
    }

    /// Whether it may come between two writes of the app, so that the phone has to know what it has stored.
    package var tearsStorage: Bool {
        switch self {
        case .kill, .reinstall, .storageFull: true
        case .offline, .handover, .background, .clockSkew: false
        }
    }

    /// Whether its end lets scans that are parked go on.
    package var returns: Bool {
        switch self {
        case .offline, .handover, .background, .kill, .reinstall: true
        case .clockSkew, .storageFull: false
        }
    }
}
