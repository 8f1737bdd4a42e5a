import Faults
import Metrics
import Observations
import SimBase
import Talaria
import Testing

@testable import RunJudge

/// Errors wait for the fault that caused them, each for itself.
@Suite struct UndecidedObservationsTests {
    private static func observation(_ milliseconds: Int64, _ payload: ObservationPayload) -> Observation {
        Observation(
            at: .zero + .milliseconds(milliseconds), device: DeviceNumber(1), scan: ScanNumber(1),
            what: payload)
    }

    private static func lost(_ at: Int64, _ attempt: UInt32) -> Observation {
        Self.observation(at, .phone(.streamLost(job: "j", attempt: attempt, .reset, silence: nil)))
    }

    private static func fired(_ at: Int64, _ attempt: UInt32) -> Observation {
        Self.observation(at, .fault(.fired(fault: 0, .stream, attempt: attempt)))
    }

    private static func ping(_ at: Int64) -> Observation {
        Self.observation(at, .phone(.ping(id: nil, gap: nil)))
    }

    /// The causes of the errors, in their order, and the number of observations that were logged.
    private static func judged(
        _ observations: [Observation], delay: Interval = .milliseconds(250)
    ) -> (causes: [Cause], logged: Int) {
        final class Log: RunLog {
            var causes: [Cause] = []
            var logged = 0
            let remarks: [Remark] = []
            func log(_ observation: Observation, cause: Cause?) {
                self.logged += 1
                if let cause { self.causes.append(cause) }
            }
            func follow(_ phone: DeviceNumber) {}
            func log(
                _ table: MetricTable, from: Instant, length: Interval,
                open: (table: MetricTable, at: Instant)?
            ) {}
        }
        var settings = JudgeSettings.small()
        settings.faults = ["cut"]
        settings.faultKinds = [.reset(.betweenEvents, .reply)]
        settings.firingDelay = delay
        var judge = RunJudge(settings)
        let log = Log()
        for observation in observations { judge.receive(observation, into: log) }
        let end = RunFacts(at: .zero + .seconds(60), made: observations.count)
        _ = judge.finish(end, of: .small(), into: log)
        return (log.causes, log.logged)
    }

    private static let cut = Cause.injected(fault: "cut")

    @Test func `a fault that is observed within the delay is the cause, and a later one is not`() {
        let story = [Self.lost(100, 1), Self.fired(340, 1), Self.lost(1_000, 2), Self.fired(1_251, 2)]
        let (causes, logged) = Self.judged(story)
        #expect(causes == [Self.cut, .target] && logged == 4)
        #expect(Self.judged(story, delay: .zero).causes == [.target, .target])
    }

    /// The second error comes at the end of the delay of the first.
    @Test func `each error has the whole delay`() {
        let story = [
            Self.lost(100, 1), Self.lost(349, 2), Self.ping(360), Self.fired(361, 2), Self.ping(700),
        ]
        #expect(Self.judged(story).causes == [.target, Self.cut])
    }

    @Test func `what fires counts once, and everything is logged in its order`() {
        let story = (0..<2_000).flatMap { number -> [Observation] in
            let at = Int64(number) * 50
            return [Self.lost(at, UInt32(number)), Self.fired(at + 1, UInt32(number)), Self.ping(at + 2)]
        }
        let (causes, logged) = Self.judged(story)
        #expect(causes == Array(repeating: Self.cut, count: 2_000) && logged == 6_000)
    }
}
