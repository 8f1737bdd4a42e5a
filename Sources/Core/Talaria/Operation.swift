/// A request of a phone to the backend (Docs/contract.md section 1.1). The raw values are part of span ids:
/// append only.
package enum Operation: UInt8, CaseIterable, Hashable, Sendable {
    case upload = 1
    case stream = 2
    case results = 3
    case cleanup = 4
    case status = 5
    case cancel = 6
    /// The exchange of a token for a new one (Docs/contract.md section 2.5).
    case refresh = 7

    /// The name used in reports, scenario files and counters.
    package var name: String {
        switch self {
        case .upload: "upload"
        case .stream: "stream"
        case .results: "results"
        case .cleanup: "cleanup"
        case .status: "status"
        case .cancel: "cancel"
        case .refresh: "refresh"
        }
    }

    /// Whether it is one of the two DELETEs of a job. They share their attempts: the second of them follows the first.
    package var isDelete: Bool { self == .cleanup || self == .cancel }

    /// Whether a scan is in a slot for it: neither a DELETE nor an exchange holds one up.
    package var holdsSlot: Bool { !self.isDelete && self != .refresh }

    /// The operation by whose name it is counted and judged.
    package var counted: Operation { self == .cancel ? .cleanup : self }
}
