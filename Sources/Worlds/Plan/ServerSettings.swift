package import Backend
package import SimBase
package import Talaria

/// The simulated backend as a scenario wants it: its configuration and the books on the shelves.
package struct ServerSettings: Hashable, Sendable {
    /// Books of a scan.
    package var books: ClosedRange<Int>
    /// The outcomes of their look-up, where they differ from those of the dialect.
    package var statuses = StatusShares()
    /// Their confidence in thousandths; nil for that of the dialect.
    package var confidence: ClosedRange<Int>?
    /// Everything else. Its `wallClockAtZero` counts for nothing: it is known when the run starts.
    package var backend: BackendConfiguration

    package init(books: ClosedRange<Int>, backend: BackendConfiguration) {
        self.books = books
        self.backend = backend
    }

    package static let contract = ServerSettings(books: 3...8, backend: .contract)

    package var ping: Interval { self.backend.ping }

    /// Returns the configuration with which the backend is started. `wallClockAtZero`: milliseconds since
    /// 1970 at the start of the run.
    package func configuration(wallClockAtZero: Int64) -> BackendConfiguration {
        var configuration = self.backend
        configuration.wallClockAtZero = wallClockAtZero
        return configuration
    }
}
