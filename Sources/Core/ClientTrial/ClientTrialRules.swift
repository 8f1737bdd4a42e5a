import SimBase

/// What a trial of clients takes for granted of the server that they use.
package struct ClientTrialRules: Hashable, Sendable {
    /// The name of the part that is a photo, where the version leaves it to the server.
    package var photoPart = "photos[]"
    /// Whether other parts are allowed in addition to the photos.
    package var allowsOtherParts = false
    /// How many phones use the server; nil if that is not known.
    package var phones: Int?
    /// Whether a token may be in the query, as pages in a browser need it.
    package var allowsTokenInQuery = false
    /// Milliseconds since 1970 at `Instant.zero`.
    package var wallClockAtZero: Int64 = 0

    package init() {}
}

/// The times by which a trial judges.
enum ClientTrialTimes {
    /// What comes a little too early by the clock of its client is not early.
    static let tolerance = Interval.milliseconds(100)
    /// `Retry-After` as a date is read from another clock, in whole seconds.
    static let dateTolerance = Interval.seconds(2)
    /// A request that began so soon after an answer may have been on its way before the answer came.
    static let crossing = Interval.milliseconds(300)
    /// An upload of another photo that began so soon after a 429 may have been on its way.
    static let uploadCrossing = Interval.milliseconds(80)
    /// What a client does within this time after an event, it does by itself: no user asked for it.
    static let automatic = Interval.seconds(10)
    /// What a client has not done after this time, it will not do.
    static let patience = Interval.seconds(8)
    /// After this time without a request, what is missing is judged without another sign of life.
    static let settled = Interval.seconds(10)
    /// The least time after the end of a job at which a later upload shows that its client has gone on.
    static let goneOn = Interval.seconds(1)
    /// A stream is closed so soon after the terminal event.
    static let close = Interval.seconds(5)
    /// The time for which a lost stream can be continued (Docs/contract.md section 2.2).
    static let buffer = Interval.seconds(60)
    /// What was sent so long before a reset has been read.
    static let arrived = Interval.milliseconds(200)
    /// No app that was killed is started again so soon: what a client repeats within this time is not forgotten.
    static let relaunch = Interval.seconds(5)
    /// Two requests for a status are so far apart, if jitter of the network is left to them.
    static let pollMin = Interval.milliseconds(1_800)
    /// How long a job is followed: its token and its results have expired then (Docs/contract.md section 2.5).
    static let retention = Interval.hours(2)
}

/// The numbers that bound what a trial remembers.
enum ClientTrialLimits {
    static let clientsMax = 10_000
    static let jobsMax = 20_000
    static let idsMax = 2_000
    static let photosMax = 64
    static let chainsMax = 64
    static let clientsShownMax = 50
}
