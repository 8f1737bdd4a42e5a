import SimBase

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
    /// After this time, what is missing is judged without a later upload of the client.
    static let settled = Interval.seconds(10)
    /// The least time after the end of a job at which a later upload shows that its client has gone on.
    static let goneOn = Interval.seconds(1)
    /// The maximum time from the terminal event to the end of its stream.
    static let close = Interval.seconds(5)
    /// The time for which a lost stream can be continued (Docs/contract.md section 2.2).
    static let buffer = Interval.seconds(60)
    /// What was sent so long before a reset has been read.
    static let arrived = Interval.milliseconds(200)
    /// No app that was killed is started again so soon: what a client repeats within this time is not forgotten.
    static let relaunch = Interval.seconds(5)
    /// The minimum time between two requests for a status: the interval of the contract less the jitter of a network.
    static let pollMin = Interval.milliseconds(1_800)
    /// How long a job is followed: its token and its results have expired then (Docs/contract.md section 2.5).
    static let retention = Interval.hours(2)
}
