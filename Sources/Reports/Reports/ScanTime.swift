import Observations
import RunMetrics
import SimBase
import Talaria

/// Where the time of one scan went: each time from its capture to its end belongs to one activity.
struct ScanTime {
    struct Span: Equatable {
        var from: Instant
        var to: Instant
        var activity: ScanActivity
    }

    let scan: ScanNumber
    let isFinished: Bool
    let spans: [Span]

    private typealias Whole = (scan: ScanNumber, from: Instant, to: Instant, isFinished: Bool)

    /// The slowest scan of a phone; nil if it has none. `until`: the end of the run, and of what is unfinished.
    init?(slowestOf observations: [Observation], until: Instant) {
        guard let slowest = Self.slowest(of: observations, until: until) else { return nil }
        self.scan = slowest.scan
        self.isFinished = slowest.isFinished
        self.spans = Self.spans(of: slowest, observations)
    }

    private static func slowest(of observations: [Observation], until: Instant) -> Whole? {
        var open: [(scan: ScanNumber, from: Instant)] = []
        var slowest: Whole?
        func note(_ scan: ScanNumber, _ from: Instant, _ to: Instant, isFinished: Bool) {
            if let slowest, slowest.to - slowest.from >= to - from { return }
            slowest = (scan, from, to, isFinished)
        }
        for observation in observations {
            guard case .phone(let payload) = observation.what else { continue }
            switch payload {
            case .captured(let scheduled):
                open.append((observation.scan, max(.zero, min(scheduled, observation.at))))
            case .completed, .refused, .canceled:
                guard let index = open.firstIndex(where: { $0.scan == observation.scan }) else { continue }
                note(observation.scan, open[index].from, observation.at, isFinished: true)
                open.remove(at: index)
            default: break
            }
        }
        for rest in open { note(rest.scan, rest.from, max(rest.from, until), isFinished: false) }
        return slowest.flatMap { $0.to > $0.from ? $0 : nil }
    }

    private static func spans(of slowest: Whole, _ observations: [Observation]) -> [Span] {
        var spans: [Span] = []
        func spend(_ activity: ScanActivity, _ from: Instant, _ to: Instant) {
            if let last = spans.indices.last, spans[last].activity == activity {
                spans[last].to = to
            } else {
                spans.append(Span(from: from, to: to, activity: activity))
            }
        }
        var (phone, clock) = (PhoneCondition(), ActivityClock(from: slowest.from))
        for observation in observations where observation.at <= slowest.to {
            guard case .phone(let payload) = observation.what else { continue }
            if PhoneCondition.isChanged(by: payload) {
                clock.advance(to: observation.at, phone, spend)
                phone.record(payload, at: observation.at)
            }
            guard observation.scan == slowest.scan else { continue }
            clock.record(payload, at: observation.at, phone, spend)
        }
        clock.advance(to: slowest.to, phone, spend)
        return spans
    }

    // MARK: Words

    var length: Interval {
        guard let first = self.spans.first, let last = self.spans.last else { return .zero }
        return last.to - first.from
    }

    /// The time of each activity, the longest first.
    var parts: [SlowTime.Part] {
        SlowTime.parts { activity in
            self.spans.filter { $0.activity == activity }.reduce(.zero) { $0 + ($1.to - $1.from) }
        }
    }

    /// `scan 3 took 42.6 s: 30.1 s waiting as a 429 requested (Retry-After), 4.1 s uploading.`
    func sentence(_ noun: WorkNoun) -> String {
        let took = self.isFinished ? "took" : "had not finished after"
        return
            "\(noun.one) \(self.scan.raw) \(took) \(Figures.time(self.length.nanoseconds)): \(self.parts.words())."
    }
}
