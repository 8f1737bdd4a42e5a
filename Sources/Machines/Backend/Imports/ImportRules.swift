package import SimBase

/// The numbers of imports (Docs/contract.md sections 2.5, 3.2 and 3.3).
package struct ImportRules: Hashable, Sendable {
    /// Uploads of a device. The contract counts by IP address, of which a backend behind a proxy knows nothing.
    package var uploads = Quota(requests: 5, window: .minutes(1))
    /// Requests for the status of one import.
    package var polls = Quota(requests: 30, window: .minutes(1))
    /// From the end of an import until its results are gone (C21).
    package var resultsLifetime = Interval.hours(2)
    package var tokenLifetime = Interval.hours(2)
    package var rowsPerSecond = 250
    /// The least time of an import.
    package var timeMin = Interval.seconds(1)
    /// Progress is sent so often.
    package var progressEvery = Interval.seconds(2)
    package var heartbeat = Interval.seconds(30)
    /// A stream that is still open after this time ends with a `timeout` event.
    package var streamTime = Interval.minutes(5)
    package var retryField = Interval.seconds(5)
    /// Imports alive, those whose file is being read included.
    package var jobsMax = 1_000
    /// Files that are read at a time: with more, uploads get 503.
    package var filesMax = 32
    /// Devices whose uploads are counted; a further one is admitted and not counted.
    package var devicesMax = 10_000
    /// Books of all libraries. A row beyond them is created, and not known to a later import.
    package var booksMax = 2_000_000

    package init() {}
}
