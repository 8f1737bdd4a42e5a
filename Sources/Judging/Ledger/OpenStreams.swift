import Observations
import SimBase
import Talaria

/// The open streams of one phone at the backend, without those whose link is dead.
///
/// A stream is counted from the backend's 200 to the end that the backend sees. If the phone has given it up,
/// it counts until its close has had time to arrive. If its link died, it no longer counts: the path was
/// lost, the app was killed, or a fault cut it.
struct OpenStreams: Sendable {
    private struct Stream: Sendable {
        let scan: ScanNumber
        let attempt: UInt32
        var job: String?
        var isOpen = false
        /// The time at which the phone gave it up.
        var endedAt: Instant?
        var isDead = false
    }

    /// The maximum duration of a goodbye: the time after which a phone gives up a connection that is not
    /// answered.
    static let goodbyeTime = Interval.seconds(10)
    /// More requests are never open at one phone.
    private static let streamsMax = 256

    private var streams: [Stream] = []

    // MARK: The phone's side

    mutating func record(_ payload: PhoneObservation, scan: ScanNumber, at: Instant) {
        switch payload {
        case .requestSent(.stream, let attempt, let job, _):
            self.asked(scan, attempt: attempt, job: job, at: at)
        case .replied(.stream, let attempt, let status, _) where status != 200:
            self.streams.removeAll { !$0.isOpen && $0.scan == scan && $0.attempt == attempt }
        case .requestFailed(.stream, let attempt, _, _), .streamLost(_, let attempt, _, _):
            self.end(at) { $0.scan == scan && $0.attempt == attempt }
        case .terminalApplied(let job, _, _), .jobAbandoned(let job, _):
            self.end(at) { $0.scan == scan && $0.job == job }
        case .suspended:
            self.end(at) { _ in true }
        case .pathLost, .pathChanged, .killed, .reinstalled:
            for index in self.streams.indices { self.streams[index].isDead = true }
            self.end(at) { _ in true }
        default: break
        }
    }

    private mutating func asked(_ scan: ScanNumber, attempt: UInt32, job: String?, at: Instant) {
        // Of the attempts before only those matter that the backend still has open.
        self.streams.removeAll { stream in
            guard !stream.isOpen else { return false }
            return stream.scan == scan || stream.endedAt.map { at - $0 > Self.goodbyeTime } ?? false
        }
        self.streams.append(Stream(scan: scan, attempt: attempt, job: job), max: Self.streamsMax)
    }

    private mutating func end(_ at: Instant, _ isMeant: (Stream) -> Bool) {
        for index in self.streams.indices
        where self.streams[index].endedAt == nil && isMeant(self.streams[index]) {
            self.streams[index].endedAt = at
        }
    }

    mutating func cut(scan: ScanNumber, attempt: UInt32) {
        for index in self.streams.indices
        where self.streams[index].scan == scan && self.streams[index].attempt == attempt {
            self.streams[index].isDead = true
        }
    }

    // MARK: The backend's side

    /// - Returns: How many are open now.
    mutating func opened(_ scan: ScanNumber, job: String, attempt: UInt32, at: Instant) -> Int {
        if let index = self.streams.firstIndex(where: { $0.scan == scan && $0.attempt == attempt }) {
            self.streams[index].isOpen = true
            self.streams[index].job = job
        } else {
            var stream = Stream(scan: scan, attempt: attempt, job: job)
            stream.isOpen = true
            // Overtaken by a later attempt: the phone had given it up before it arrived.
            if self.streams.contains(where: { $0.scan == scan && $0.attempt > attempt }) {
                stream.endedAt = at
            }
            self.streams.append(stream, max: Self.streamsMax)
        }
        return self.streams.count { stream in
            guard stream.isOpen, !stream.isDead else { return false }
            return stream.endedAt.map { at - $0 > Self.goodbyeTime } ?? true
        }
    }

    mutating func ended(job: String, scan: ScanNumber, attempt: UInt32) {
        self.streams.removeAll { $0.isOpen && $0.scan == scan && $0.attempt == attempt && $0.job == job }
    }
}
