package import Faults
package import SimBase
package import Talaria

// The door of a handset: events come in, effects go out, nothing else (Docs/style.md rule 2). The driver owns
// connections, files and clocks.

/// What happens to a handset.
package enum HandsetEvent: Sendable {
    /// It is switched on for the first time in this run, with what its storage holds.
    case switchedOn(restored: [DurableScan])
    indirect case act(LifeAct)
    /// The schedule wants a capture.
    case captureDue(Arrival, PhotoReference)
    /// The run is over for its user: the app is sent away, and nobody takes it up again.
    case runEnded
    /// The end of all trouble: whatever held the phone or its app ends, and the user takes the phone up again. What was
    /// still to happen to it must not be told any more.
    case healed
    /// What a process asked for; one that is gone hears nothing of it.
    case photoPrepared(ScanNumber, process: UInt32, bytes: Int, took: Interval?)
    case photoRejected(ScanNumber, process: UInt32, reason: String)
    case replyHead(RequestID, ReplyHead)
    case replyBytes(RequestID, ArraySlice<UInt8>)
    case replyEnded(RequestID)
    case replyFailed(RequestID, TransportFailure)
    /// The moment that `nextWake` asked for has come, or another.
    case woke
    /// What was handed to the storage is about to be made durable, record by record: answered with `.write` for each, up to
    /// the one that a fault of the phone waits for.
    case flushing
    /// What was answered to `.flushing` is durable.
    case flushed
}

/// What a handset wants done.
package enum HandsetEffect: Sendable {
    case observe(Observation)
    case send(DeviceRequest)
    /// Gives up a request: its connection is closed.
    case abort(RequestID)
    case preparePhoto(ScanNumber, PhotoReference, process: UInt32)
    case releasePhoto(ScanNumber)
    /// The number is used from now on, whatever becomes of the scan.
    case use(ScanNumber)
    /// To be appended to the phone's journal.
    case write(StoreChange)
    /// Whatever was written is wanted durable: first `.flushing`, then `.flushed`.
    case flush
    /// What was just written is to be durable at once, and nobody is told.
    case flushNow
    /// All that the phone had stored is gone, and it has another device id.
    case wiped(DeviceIdentity)
    /// Its requests are given up without a word to their peers: every connection stays open and unread.
    case park
    /// What was parked is closed with RST.
    case hangUp
    /// Whatever the process had in the driver's hands is gone: prepared photos.
    case forgetProcess
    /// The act is to come then.
    indirect case schedule(LifeAct, at: Instant)
    /// The scan for which the user of a closed group waited is settled, or gone with its process.
    case awaitedSettled
}

/// One end of a window of a phone, or what follows from it.
package enum LifeAct: Hashable, Sendable {
    case begins(PhoneWindow)
    case ends(PhoneWindow)
    /// The phone's way leads through a time without a path, which is no fault.
    case entersTunnel
    case leavesTunnel
    /// Nobody waits any more for the connections of a network that the phone has left.
    case oldPathGone
}

/// What all handsets of a run share.
package struct Surroundings: Hashable, Sendable {
    package var random: KeyedRandom
    /// The trace id's run, never 0.
    package var run: UInt64
    /// The monotonic clock of the machine at `Instant.zero`, nanoseconds.
    package var clockZero: Int64
    /// Milliseconds since 1970 at `Instant.zero`.
    package var wallClockAtZero: Int64

    package init(random: KeyedRandom, run: UInt64, clockZero: Int64, wallClockAtZero: Int64) {
        self.random = random
        self.run = run
        self.clockZero = clockZero
        self.wallClockAtZero = wallClockAtZero
    }
}

/// The times of a run's phones, and what they hold.
package enum HandsetLimits {
    /// Writes that wait for room in a full storage. A phone that has as many unsettled scans as it may, each with eight
    /// writes, has no more.
    package static let heldWritesMax = 8 * DeviceLimit.unsettledMax
    /// How long the connections of a network that a phone has left stay open and unread: what a server sends meanwhile
    /// goes nowhere.
    package static let oldPathTime = Interval.seconds(30)
    /// What phones get at the end of a run to say goodbye to the backend.
    package static let farewellTime = Interval.seconds(3)
}
