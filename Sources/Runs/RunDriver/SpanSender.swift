import CurlLoop
import EventLoop
import HTTPClient
import Observations
import SimBase
import SystemIO
import Tracing
import Wire

/// The thread that sends spans: it folds observations, and makes the requests to the collector on a loop of its own.
final class SpanSender: TransferDelegate {
    struct Seen: Sendable {
        let observation: Observation
        /// Of an error.
        let cause: Cause?
    }

    enum Message: Sendable {
        case observations([Seen])
        /// Observations that would have begun so many spans are missing here.
        case lost(Int)
        /// The end of the run: the last request, and when it was.
        case finish(metrics: [UInt8], at: Instant)
    }

    /// What the run's thread must know of it.
    struct Status: Sendable {
        /// Spans that wait.
        var spans = 0
        var isFailing = false
        var trouble: String?
    }

    struct Setup: Sendable {
        let settings: SpanSettings
        let writer: OTLPWriter
        let limits: ExportQueue.Limits
        let base: String
        let target: CurlTarget
        let userAgent: String
    }

    /// One request to the collector.
    private struct Sent {
        let transfer: TransferID
        let due: Instant
        var head: ResponseHead?
        var body: [UInt8] = []
    }

    /// The time that a request has, by OpenTelemetry's default.
    private static let patience = Interval.seconds(10)
    private static let bodyBytesMax = 64 << 10

    private let setup: Setup
    private let loop: Loop
    private let pool: ClientPool
    private let status: Guarded<Status>
    private var reader: MailboxReader<Message>?
    private var timer: LoopTimer?
    private var folder: SpanFolder
    private var queue: ExportQueue
    /// By slot.
    private var sent: [Sent?]
    /// When the flush at the end of the run ends; nil before.
    private var flushedBy: Instant?

    private init(
        _ setup: Setup, _ mailbox: Mailbox<Message>, _ status: Guarded<Status>
    ) throws(SystemError) {
        self.setup = setup
        self.status = status
        self.loop = try Loop(clock: .startingNow())
        self.pool = ClientPool(
            loop: self.loop, target: setup.target, phones: setup.limits.requestsMax, client: .own)
        self.folder = SpanFolder(setup.settings)
        self.queue = ExportQueue(setup.writer, setup.limits)
        self.sent = Array(repeating: nil, count: setup.limits.requestsMax)
        self.pool.delegate = self
        self.timer = LoopTimer(loop: self.loop) { [unowned self] _ in self.proceed() }
        self.reader = mailbox.read(on: self.loop) { [unowned self] messages in
            for message in messages { self.receive(message) }
            self.proceed()
        }
    }

    /// The body of the thread: returns at the end of the flush.
    static func run(
        _ setup: Setup, _ mailbox: Mailbox<Message>, _ status: Guarded<Status>
    ) -> ExportQueue.Counts {
        // The load goes first.
        CurrentThread.lowerPriority()
        do throws(SystemError) {
            let sender = try SpanSender(setup, mailbox, status)
            sender.loop.run()
            return sender.queue.counts
        } catch {
            var counts = ExportQueue.Counts()
            counts.trouble = "\(error)"
            return counts
        }
    }

    private func receive(_ message: Message) {
        switch message {
        case .observations(let batch):
            let now = self.loop.now()
            for seen in batch {
                self.folder.record(seen.observation, cause: seen.cause) { self.queue.add($0, at: now) }
            }
        case .lost(let spans):
            self.queue.lost(spans)
            self.folder.forget()
        case .finish(let metrics, let end):
            let now = self.loop.now()
            self.folder.finish(at: end) { self.queue.add($0, at: now) }
            self.queue.lost(self.folder.dropped)
            self.queue.finish(metrics: metrics)
            self.flushedBy = now + SpanExport.flushMax
        }
    }

    /// Sends what can be sent, and gives up what has taken too long.
    private func proceed() {
        let now = self.loop.now()
        let isOver = self.flushedBy.map { $0 <= now } ?? false
        for slot in self.sent.indices {
            guard let sent = self.sent[slot], isOver || sent.due <= now else { continue }
            self.pool.cancel(sent.transfer)
            self.sent[slot] = nil
            self.queue.failed(
                slot, "no answer within \((now - sent.due + Self.patience).wholeMilliseconds) ms", at: now)
        }
        if isOver { self.queue.giveUp() }
        while let request = self.queue.next(at: now) { self.send(request, at: now) }
        self.status.withLock {
            $0.spans = self.queue.spans
            $0.isFailing = self.queue.failures > 0
            $0.trouble = self.queue.counts.trouble
        }
        guard self.flushedBy == nil || !self.queue.isEmpty else { return self.loop.stop() }
        let wakes = [self.queue.nextWake, self.flushedBy] + self.sent.map { $0?.due }
        if let next = wakes.compactMap({ $0 }).filter({ $0 > now }).min() { self.timer?.arm(at: next) }
    }

    private func send(_ request: ExportQueue.Request, at now: Instant) {
        let headers = [
            HeaderField("Content-Type", "application/json"),
            HeaderField("User-Agent", self.setup.userAgent),
        ]
        let transfer = self.pool.start(
            TransferRequest(
                phone: request.slot, method: .post,
                url: "\(self.setup.base)/v1/\(request.signal.rawValue)", headers: headers,
                body: .bytes(request.body), receiveBuffer: .reply))
        self.sent[request.slot] = Sent(transfer: transfer, due: now + Self.patience)
    }

    // MARK: From the client

    func transfer(_ transfer: TransferID, of slot: Int, replied head: ResponseHead, at moment: Instant) {
        self.sent[slot]?.head = head
    }

    func transfer(_ transfer: TransferID, of slot: Int, received bytes: [UInt8], at moment: Instant) {
        guard let room = self.sent[slot].map({ Self.bodyBytesMax - $0.body.count }), room > 0 else { return }
        self.sent[slot]?.body += bytes.prefix(room)
    }

    func transfer(_ transfer: TransferID, of slot: Int, ended end: TransferEnd, at moment: Instant) {
        guard let sent = self.sent[slot], sent.transfer == transfer else { return }
        self.sent[slot] = nil
        let now = self.loop.now()
        if let failure = end.failure {
            self.queue.failed(slot, PreflightFailure(failure).text, at: now)
        } else {
            let wait = sent.head?.headers["Retry-After"].flatMap { RetryAfter($0) }?
                .wait(at: WallClock.now() / 1_000_000_000)
            self.queue.answered(
                slot, status: sent.head?.status ?? 0, wait: wait, body: sent.body, at: now)
        }
        self.proceed()
    }
}
