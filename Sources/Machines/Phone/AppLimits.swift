package import SimBase

/// The limits of a phone in numbers and time, whatever a server sends or a schedule requests.
package enum AppLimits {
    /// Unsettled scans of one phone. A capture beyond it is refused with `queueFullCode`, never dropped in silence.
    package static let unsettledMax = 1_000
    package static let queueFullCode = "QUEUE_FULL"
    /// Shown when the phone has no room for the record of a capture.
    package static let storageFullCode = "STORAGE_FULL"
    /// The time that the system gives an app that moves to the background without a request for more
    /// ("approximately five seconds", Apple's `applicationDidEnterBackground`); then it is frozen.
    package static let backgroundTime = Interval.seconds(5)
    /// Shown when the photo itself cannot be used.
    package static let photoUnusableCode = "PHOTO_UNUSABLE"
    /// The code in the record of a scan that was removed as failed.
    package static let removedCode = "REMOVED"
    /// The code in the record of a scan that its user has canceled. A server may give the same one (`DurableScan.isCanceled`).
    package static let canceledCode = "CANCELED-BY-USER"
    /// Shown by a client that has one text for every error of an upload.
    package static let anyErrorCode = "NETWORK_ERROR"
    /// Shown by a client that takes an event it cannot read for a final error.
    package static let unreadableEventCode = "UNREADABLE_EVENT"
    /// Photos of waiting scans that are prepared before their turn; those after them wait as they were taken.
    package static let photosAheadMax = 10
    /// Scans that keep their prepared photo while they serve a backoff; those beyond it have theirs prepared again.
    package static let photosHeldBackMax = 10

    /// The answer to a results request; any other answer is at most `answerBytesMax`.
    package static let resultsBytesMax = 4 << 20
    package static let answerBytesMax = 64 << 10
    package static let booksPerScanMax = 10_000
    /// A preview of 1 MB in base64 fits, and twelve times what an event with books may have (Docs/contract.md section 2.3).
    package static let streamLineBytesMax = 3 << 19
    package static let streamEventBytesMax = 3 << 19
    package static let eventIDBytesMax = 512
    package static let targetBytesMax = 2_048
    package static let tokenBytesMax = 4_096
    package static let codeBytesMax = 64
    /// Parts of a stream that are held while a client does not read them; then the stream is given up.
    package static let heldItemsMax = 10_000
    /// Events of one job that are known again when a server replays them.
    package static let rememberedEventsMax = 1_024

    /// DELETEs of one phone that are under way at once.
    package static let cleanupsSentMax = 10
    /// Unreadable answers to the results requests of one job; then the scan waits for the next launch.
    package static let resultsBadAnswersMax = 3

    /// Failed exchanges of one token in a row that are made again; then it is used to its end.
    package static let refreshFailuresMax = 4

    /// Failed look-ups by text in a row that are made again; then the book keeps what the phone has read.
    package static let textRetriesMax = 3

    /// Refusals of the stream of one job with a 4xx that the contract does not name; then the scan waits likewise.
    package static let streamRefusalsMax = 3
    /// A request that has had no head for so long when the app goes to the background is one that was not answered.
    package static let patience = Interval.seconds(10)

    /// Requests of one operation for one scan, and endings of its jobs: what a record in a store may say. No phone comes
    /// near it (an attempt every millisecond for twelve days); a damaged record may.
    package static let attemptsMax: UInt32 = 1 << 30
    package static let endingsMax = 1 << 30

    /// A longer wait that a server requests is shortened to this, so that adding it to a clock is always safe.
    package static let serverWaitMax = Interval.hours(24 * 365)
    /// The time for which a stream may continue after its terminal event, before the phone closes it.
    package static let drainGrace = Interval.milliseconds(250)
    /// The slowest link worth waiting for: an upload's deadline is `requestTimeout` plus its bytes at this rate.
    package static let uploadBytesPerSecondMin: Int64 = 8_000
    /// A stamp that gives a greater latency, or one this far in the future, is not ours.
    package static let latencyMax = Interval.hours(24)
    package static let stampAheadMax = Interval.milliseconds(100)
}
