/// What a trial asks a target by itself, as a second device or a second reader would (Docs/design.md section 11.12).
package enum TargetProbe: String, CaseIterable, Hashable, Sendable {
    /// A second stream of a job, opened with the phone's.
    case witness
    /// The status, with the token of the job.
    case status
    /// The results, as the phone would ask for them.
    case results
    /// The results in the full format.
    case fullResults = "full-results"
    /// A request without a token.
    case withoutToken = "without-token"
    /// A request with the token of another job.
    case foreignToken = "foreign-token"
    /// A request without a device id.
    case withoutDevice = "without-device"
    /// A request with the token of the job and the device id of another phone.
    case otherDevice = "other-device"
    /// A stream after an id that no event has.
    case unknownID = "unknown-id"
    /// A request for a job that the target has acknowledged to be deleted.
    case deleted
    /// A request for a WebSocket that does not ask for an upgrade.
    case withoutUpgrade = "without-upgrade"
    /// A WebSocket with a token that has opened one.
    case usedToken = "used-token"
    /// A WebSocket of a client that comes back after the job has ended.
    case reconnect

    /// Whether the target must refuse it (Docs/contract.md section 1.1).
    package var isForbidden: Bool { self.lacking != nil }

    /// What the request lacks, in words: `without a token`; nil if it lacks nothing.
    package var lacking: String? {
        switch self {
        case .withoutToken: "without a token"
        case .foreignToken: "with the token of another job"
        case .withoutDevice: "without a device id"
        case .withoutUpgrade: "without an upgrade"
        case .usedToken: "with a token that was used"
        case .witness, .status, .results, .fullResults, .otherDevice, .unknownID, .deleted, .reconnect: nil
        }
    }

    /// Whether a WebSocket is asked for as by a client that has lost one.
    package var isReturn: Bool { self == .reconnect || self == .deleted }
}
