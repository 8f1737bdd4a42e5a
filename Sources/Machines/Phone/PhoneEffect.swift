package import Observations
package import SimBase
import Talaria

/// An effect that a phone requests.
package enum PhoneEffect: Sendable {
    /// An effect that its app requests. If a request is aborted, its connection is closed. The driver gets
    /// each write once, in order, and appends it to the phone's journal.
    case app(AppEffect)
    case observe(Observation)
    /// The number is used from now on, whatever the outcome of the scan. `beginsCapture`: false for another
    /// region of the same photo.
    case use(ScanNumber, beginsCapture: Bool)
    /// The writes so far are to be made durable: first `.flushing`, then `.flushed`.
    case flush
    /// The writes so far are to be made durable at once, without an answer.
    case flushNow
    /// All that the phone had stored is gone, and it has another device id.
    case wiped(DeviceIdentity)
    /// Its requests are given up without a word to their peers: every connection stays open and unread.
    case park
    /// Closes the parked connections with RST.
    case hangUp
    /// Whatever the process had in the driver's hands is gone: prepared photos.
    case forgetProcess
    indirect case schedule(PhoneDisturbance, at: Instant)
    /// The scan for which the user of a closed group waited is settled, or gone with its process.
    case awaitedSettled
}

extension PhoneEffect {
    /// The write of the app that this is, and the scan that it settles; nil for other effects.
    var write: (id: WriteID, settled: ScanNumber?)? {
        switch self {
        case .app(.store(.settled(let scan, _), let id)): (id, scan)
        case .app(.store(_, let id)): (id, nil)
        case .app, .observe, .use, .flush, .flushNow, .wiped, .park, .hangUp, .forgetProcess, .schedule,
            .awaitedSettled:
            nil
        }
    }
}
