package import SimBase

/// A request that a trial makes by itself.
package struct ProbeRequest: Hashable, Sendable {
    /// Marks each probe, with its kind as the value.
    package static let header = "X-Load-Test-Probe"

    /// Unique among the exchanges of the trial, and above every number of another one.
    package let id: UInt64
    /// GET of this path, with a query.
    package let target: String
    package let headers: [HeaderField]
    package let isStream: Bool
    /// What is sent as soon as it was answered with 101.
    package let opening: [UInt8]

    package init(
        id: UInt64, target: String, headers: [HeaderField], isStream: Bool, opening: [UInt8] = []
    ) {
        self.id = id
        self.target = target
        self.headers = headers
        self.isStream = isStream
        self.opening = opening
    }
}

/// What a trial wants of the side that makes its requests.
package enum ProbeOrder: Hashable, Sendable {
    case start(ProbeRequest)
    /// End an exchange at once. Its id is used no more.
    case cancel(UInt64)
}
