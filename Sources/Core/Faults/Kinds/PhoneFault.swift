package import SimBase

/// The effect of a fault of the phone. It acts on a phone for as long as its `PhoneWindow` is open.
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

    package var id: FaultKindID {
        switch self {
        case .offline: .offline
        case .handover: .handover
        case .background: .background
        case .kill: .kill
        case .reinstall: .reinstall
        case .clockSkew: .clockSkew
        case .storageFull: .storageFull
        }
    }
}
