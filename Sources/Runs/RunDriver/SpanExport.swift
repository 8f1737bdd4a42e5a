import EventLoop
import Metrics
import Observations
import Reports
import RunJudge
import SimBase
import SystemIO
import Tracing

/// Exports the spans of a run, and its metrics at the end, to a collector of OpenTelemetry (Docs/design.md section 14).
///
/// The run hands over copies of observations, in batches of a bounded number. Everything else is the work of `SpanSender`.
final class SpanExport {
    /// The time of the flush at the end of a run.
    static let flushMax = Interval.seconds(5)
    private static let batchMax = 256
    private static let batchesMax = 512
    /// How long a simulated run waits for room.
    private static let waitMax = Interval.seconds(10)

    private let url: String
    private let writer: OTLPWriter
    private let limits: ExportQueue.Limits
    private let mailbox: Mailbox<SpanSender.Message>
    private let thread: LoopThread<ExportQueue.Counts>
    private let status = Guarded(SpanSender.Status())
    /// Whether the run waits for room: a simulated one has the time.
    private let waits: Bool
    private var batch: [SpanSender.Seen] = []
    /// The spans that observations would have begun which could not be handed over.
    private var lost = 0
    private var hasTold = false

    /// - Parameter server: Where the requests go; nil in the virtual world.
    /// - Parameter basePath: What comes before the paths of the contract.
    init(
        to collector: TargetURL, of head: RunHead, server: (host: String, port: UInt16)?, basePath: String
    ) throws {
        let run = RunID.value(seed: head.seed, started: head.started)
        self.url = collector.base
        self.waits = head.world == .virtual
        self.limits = ExportQueue.Limits()
        let shard: [(String, SpanAttribute.Value)] =
            head.shard.isWhole ? [] : [("swiftwing.shard", .text(head.shard.description))]
        self.writer = OTLPWriter(
            run: run, zero: head.started * 1_000_000, version: ThisProgram.version,
            resource: [
                ("swiftwing.scenario", .text(head.scenario.name)),
                ("swiftwing.seed", .text(String(head.seed))),
                ("swiftwing.world", .text(head.world.rawValue)),
            ] + shard + head.labels.tags.map { ("swiftwing.tag.\($0.key)", .text($0.value)) })
        let setup = SpanSender.Setup(
            settings: SpanSettings(
                run: run, head.fleet, journeys: head.groups.map(\.journey), faults: head.faults,
                server: server, basePath: basePath, http: head.labels.http?.version.rawValue ?? "1.1"),
            writer: self.writer, limits: self.limits, base: collector.base,
            target: collector.curlTarget(connectTimeout: .seconds(5)),
            userAgent: ThisProgram.tool.replacing(" ", with: "/"))
        let mailbox = try Mailbox<SpanSender.Message>(messagesMax: Self.batchesMax)
        self.mailbox = mailbox
        self.thread = try LoopThread.start(name: "otlp") { [status] in
            SpanSender.run(setup, mailbox, status)
        }
    }

    // MARK: During the run

    func record(_ observation: Observation, _ cause: Cause?) {
        guard SpanFolder.concerns(observation) else { return }
        self.batch.append(SpanSender.Seen(observation: observation, cause: cause))
        if self.batch.count == Self.batchMax { self.handOver() }
    }

    /// Hands over what was recorded. What there is no room for is counted as spans that were lost.
    func handOver() {
        guard !self.batch.isEmpty else { return }
        let lost: [SpanSender.Message] = self.lost > 0 ? [.lost(self.lost)] : []
        if self.post(lost + [.observations(self.batch)]) {
            self.lost = 0
        } else {
            // At least one, so that the other side knows of the gap.
            self.lost += max(1, self.batch.reduce(0) { $0 + SpanFolder.begun(by: $1.observation) })
        }
        self.batch.removeAll(keepingCapacity: true)
        if self.waits { self.waitForRoom() }
    }

    private func post(_ messages: [SpanSender.Message]) -> Bool {
        if self.mailbox.post(contentsOf: messages) { return true }
        return self.waits && self.wait(atMost: Self.waitMax) { self.mailbox.post(contentsOf: messages) }
    }

    /// A simulated run is as fast as a collector that takes its spans. One that does not is not waited for.
    private func waitForRoom() {
        _ = self.wait(atMost: Self.waitMax) {
            self.status.withLock { $0.spans < self.limits.spansMax / 2 || $0.isFailing }
        }
    }

    /// Returns whether the condition holds in the end.
    private func wait(atMost time: Interval, until holds: () -> Bool) -> Bool {
        let end = MonotonicClock.now() + time.nanoseconds
        while !holds() {
            guard MonotonicClock.now() < end, !Interruption.isRequested else { return false }
            CurrentThread.pause(milliseconds: 1)
        }
        return true
    }

    /// Says once that the collector does not take the spans.
    func reportTrouble(on console: Console) {
        let status = self.status.withLock { $0 }
        guard !self.hasTold, status.isFailing, let trouble = status.trouble else { return }
        self.hasTold = true
        console.error(
            "swiftwing-sim: the collector \(self.url) takes no spans: \(trouble); the run continues")
    }

    // MARK: The end

    /// Sends what is left and the metrics, for a bounded time, and returns what came of all. To be called once.
    func finish(_ result: RunResult) -> ExportSummary {
        self.handOver()
        let lost: [SpanSender.Message] = self.lost > 0 ? [.lost(self.lost)] : []
        let end = SpanSender.Message.finish(
            metrics: OTLPMetrics.request(result, self.writer), at: .zero + result.length)
        var summary = ExportSummary(url: self.url)
        guard self.wait(atMost: Self.flushMax, until: { self.mailbox.post(contentsOf: lost + [end]) }) else {
            summary.dropped = self.lost + self.status.withLock { $0.spans }
            summary.trouble = "the exporter had no time"
            return summary
        }
        let counts = self.thread.join()
        summary.exported = counts.exported
        summary.dropped = counts.dropped
        summary.hasMetrics = counts.hasMetrics ?? false
        summary.trouble = counts.trouble
        return summary
    }
}

/// The run in the trace ids of its requests.
enum RunID {
    /// Of this seed and this time in milliseconds since 1970, never 0.
    static func value(seed: UInt64, started: Int64) -> UInt64 {
        KeyedRandom(seed: seed).draw(.deviceIdentity, .max, UInt64(bitPattern: started)) | 1
    }
}
