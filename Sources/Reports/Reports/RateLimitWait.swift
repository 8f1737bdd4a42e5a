import Observations
import SimBase
import Talaria

/// The waits of a scan that another scan's 429 imposes: until its end, a phone makes no upload at all.
struct RateLimitWait {
    private let scan: ScanNumber
    private let noun: WorkNoun
    /// The scan whose 429 holds the uploads for longest, and the end of that.
    private var limit: (scan: ScanNumber, until: Instant)?
    /// Whether the scan waits for its upload.
    private var isWaiting = false

    /// Returns what there is to say of observations of a phone in the story of one of its scans. The observations may be those of
    /// other scans.
    static func texts(
        _ observations: [Observation], for scan: ScanNumber, _ noun: WorkNoun
    ) -> [Observation: String] {
        var wait = RateLimitWait(scan: scan, noun: noun)
        var texts: [Observation: String] = [:]
        for observation in observations {
            guard case .phone(let payload) = observation.what else { continue }
            texts[observation] = wait.text(payload, of: observation.scan, at: observation.at)
        }
        return texts
    }

    private mutating func text(
        _ payload: PhoneObservation, of scan: ScanNumber, at now: Instant
    ) -> String? {
        if case .rateLimited(.upload, let time) = payload {
            let until = now + time
            if self.limit.map({ $0.until <= until }) ?? true { self.limit = (scan, until) }
            if scan != self.scan {
                guard self.isWaiting, time > .zero else { return nil }
                return
                    "waits: the server told \(self.noun.one) \(scan.raw) to wait \(StoryText.time(time)), which holds all uploads of the phone"
            }
        }
        guard scan == self.scan else { return nil }
        switch payload {
        case .captured, .queued, .requestFailed(.upload, _, _, _), .badAnswer(.upload, _, _),
            .replied(.upload, _, _, _), .rateLimited(.upload, _):
            self.isWaiting = true
        case .requestSent(.upload, _, _, _), .uploadAccepted, .lookupAnswered, .completed, .refused,
            .canceled:
            self.isWaiting = false
        default: break
        }
        guard case .queued(.rateLimited) = payload, let limit, limit.scan != self.scan else { return nil }
        return
            "\(self.noun.one) waits: the server told \(self.noun.one) \(limit.scan.raw) to wait (429), which holds all uploads of the phone"
    }
}
