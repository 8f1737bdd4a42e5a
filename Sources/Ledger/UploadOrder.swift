import SimBase
import Talaria

/// scan.order: whether the scans that wait for their first job are uploaded oldest first, for whatever reason they wait.
///
/// A scan that serves a backoff, or a wait that a server asked for, may be overtaken until its time is over; uploads that
/// begin at one moment may begin in any order, as far as there are slots.
struct UploadOrder: Sendable {
    struct Overtaking: Sendable {
        let older: ScanNumber
        let newer: ScanNumber
        let at: Instant
    }

    fileprivate struct Waiting: Sendable {
        let scan: ScanNumber
        /// What a server asked for: nothing shortens it.
        let floor: Instant
        /// When nothing but a slot can hold it back, at the latest.
        var readyAt: Instant
    }

    fileprivate struct Phone: Sendable {
        var waiting: [Waiting] = []
        /// Scans whose upload was accepted once: what becomes of them depends on their job.
        var accepted: [ScanNumber] = []
        /// Waits other than those of a 429 that a server has asked for.
        var floors: [(scan: ScanNumber, wait: Interval)] = []
        /// The scan whose 429 says that it may come at once: it serves a backoff.
        var backsOff: ScanNumber?
        var overtaken: [Overtaking] = []
    }

    /// The longest backoff of the contract.
    static let backoffMax = Interval.seconds(30)
    private static let floorsMax = 64

    private var phones: [Phone] = []

    /// Of all phones.
    var remembered: Int {
        self.phones.reduce(0) { $0 + $1.waiting.count + $1.accepted.count + $1.floors.count }
    }

    /// Uploads that went before older scans, before a moment, and that no upload of the same moment explains.
    mutating func overtakings(of place: Int, before moment: Instant) -> [Overtaking] {
        guard place < self.phones.count, let first = self.phones[place].overtaken.first, first.at < moment
        else { return [] }
        defer { self.phones[place].overtaken = [] }
        return self.phones[place].overtaken
    }

    /// At the end of the run.
    mutating func overtakings() -> [(place: Int, Overtaking)] {
        self.phones.indices.flatMap { place in
            self.overtakings(of: place, before: .distantFuture).map { (place, $0) }
        }
    }

    /// A server asked for a wait with another answer than 429.
    mutating func told(_ wait: Interval, scan: ScanNumber, place: Int) {
        self.change(place) { phone in
            phone.floors.removeAll { $0.scan == scan }
            if phone.floors.count == Self.floorsMax { phone.floors.removeFirst() }
            phone.floors.append((scan, wait))
        }
    }

    mutating func saw(_ sighting: PhoneSighting, scan: ScanNumber, at: Instant, place: Int) {
        switch sighting {
        case .queued(let cause): self.change(place) { $0.queued(scan, cause, at: at) }
        case .rateLimited(.upload, let wait):
            self.change(place) { $0.backsOff = wait == .zero ? scan : nil }
        case .uploadAccepted:
            self.change(place) { phone in
                phone.waiting.removeAll { $0.scan == scan }
                if !phone.accepted.contains(scan) { phone.accepted.append(scan) }
            }
        case .completed, .refused:
            self.change(place) { phone in
                phone.waiting.removeAll { $0.scan == scan }
                phone.accepted.removeAll { $0 == scan }
                phone.floors.removeAll { $0.scan == scan }
            }
        case .requestSent(.upload, _, _, _): self.change(place) { $0.uploaded(scan, at: at) }
        case .pathReturned, .pathChanged, .resumed: self.change(place) { $0.released(at: at) }
        // What waits is told anew.
        case .launched: self.change(place) { $0.waiting = [] }
        case .reinstalled: self.change(place) { $0 = Phone() }
        default: break
        }
    }

    private mutating func change(_ place: Int, _ change: (inout Phone) -> Void) {
        while self.phones.count <= place { self.phones.append(Phone()) }
        change(&self.phones[place])
    }
}

extension UploadOrder.Phone {
    fileprivate mutating func queued(_ scan: ScanNumber, _ cause: WaitingCause, at: Instant) {
        self.waiting.removeAll { $0.scan == scan }
        let index = self.floors.firstIndex { $0.scan == scan }
        // A header is rounded up to whole seconds.
        let floor = index.map { at + self.floors.remove(at: $0).wait + .seconds(1) } ?? at
        defer { self.backsOff = nil }
        guard !self.accepted.contains(scan) else { return }
        let isHeld =
            switch cause {
            case .captured, .offline, .interrupted, .suspended: false
            case .rateLimited: self.backsOff == scan
            case .serverError, .transport, .retryableError, .tokenExpired, .jobGone, .resultsUnavailable,
                .unreadableAnswer, .answerTooLarge, .noAnswer, .unexpectedStatus, .unauthorized,
                .foreignURL:
                true
            }
        let readyAt = isHeld ? max(floor, at + UploadOrder.backoffMax) : floor
        self.waiting.append(UploadOrder.Waiting(scan: scan, floor: floor, readyAt: readyAt))
    }

    fileprivate mutating func released(at moment: Instant) {
        for index in self.waiting.indices where self.waiting[index].readyAt > moment {
            self.waiting[index].readyAt = max(moment, self.waiting[index].floor)
        }
    }

    fileprivate mutating func uploaded(_ scan: ScanNumber, at: Instant) {
        self.waiting.removeAll { $0.scan == scan }
        self.overtaken.removeAll { $0.older == scan && $0.at == at }
        var oldest: ScanNumber?
        for waiting in self.waiting where waiting.scan < scan && waiting.readyAt <= at {
            oldest = min(oldest ?? waiting.scan, waiting.scan)
        }
        guard let oldest else { return }
        self.overtaken.append(UploadOrder.Overtaking(older: oldest, newer: scan, at: at))
    }
}
