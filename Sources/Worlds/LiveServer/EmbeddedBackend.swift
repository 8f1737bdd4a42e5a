package import EventLoop
import HTTPServer
package import Observations
package import SimBase
package import SystemIO
import Talaria

/// The backend as a child process of a run: it learns of its parent's end by a lifeline, gets the run's zero
/// by a control pipe and reports what it sees by an observation pipe.
package final class EmbeddedBackend {
    /// The number of the child's observation pipe; see `ChildDescriptor` for the lifeline.
    package static let observationDescriptor = ChildDescriptor.firstFree

    /// The interval at which the child sends its observations and states how far it has advanced.
    package static let reportInterval = Interval.milliseconds(50)
    /// The interval at which it reports the number of open streams.
    package static let gaugeInterval = Interval.seconds(1)
    /// The maximum size of data that waits for a parent that does not read; beyond it, the run cannot be
    /// judged, and the child exits.
    package static let waitingBytesMax = 64 << 20

    private let loop: Loop
    private let pipe: Descriptor
    private var watch: Watch?
    private var timer: LoopTimer?
    private var writer = BackendReportWriter()
    private var bytes: [UInt8] = []
    private var sent = 0
    private var gaugedAt = Instant.zero
    /// Asked for the gauge.
    package weak var server: SocketServer?
    private let failed: () -> Void

    /// Takes over the inherited pipe. `failed` is called when reports no longer reach the parent.
    package init(loop: Loop, failed: @escaping () -> Void) throws(SystemError) {
        self.loop = loop
        self.failed = failed
        self.pipe = try Descriptor.adopting(Self.observationDescriptor)
        try DescriptorIO.setNonblocking(self.pipe.number, true)
        self.watch = loop.watch(self.pipe.number, []) { [unowned self] _ in self.flush() }
        self.timer = LoopTimer(loop: loop) { [unowned self] due in self.report(late: self.loop.now() - due) }
        self.report(late: .zero)
    }

    /// Records an observation. Called for everything the server observes.
    package func record(_ observation: Observation) {
        self.writer.write(.observation(observation), into: &self.bytes)
    }

    /// `late`: how much later than it was due. A process that is stopped, or gets no processor, is late.
    private func report(late: Interval) {
        let now = self.loop.now()
        if now - self.gaugedAt >= Self.gaugeInterval { self.gauge(at: now) }
        self.writer.write(.upTo(self.loop.now(), late: late), into: &self.bytes)
        self.flush()
        if self.bytes.count - self.sent > Self.waitingBytesMax { self.failed() }
        self.timer?.arm(after: Self.reportInterval)
    }

    private func gauge(at now: Instant) {
        guard let server = self.server else { return }
        self.gaugedAt = now
        self.writer.write(.streamsOpen(server.takeStreamsOpen(), at: now), into: &self.bytes)
    }

    /// The end of the story: waits until the parent has taken everything.
    package func finish() {
        self.timer?.disarm()
        self.watch?.cancel()
        self.gauge(at: self.loop.now())
        self.writer.write(.upTo(self.loop.now(), late: .zero), into: &self.bytes)
        self.writer.write(.ended(residentMax: ResourceUsage.own().residentMax), into: &self.bytes)
        try? DescriptorIO.setNonblocking(self.pipe.number, false)
        while self.sent < self.bytes.count {
            guard case .bytes(let count) = DescriptorIO.write(self.pipe.number, self.bytes[self.sent...])
            else { return }
            self.sent += count
        }
    }

    /// Sends what the pipe takes now.
    private func flush() {
        while self.sent < self.bytes.count {
            switch DescriptorIO.write(self.pipe.number, self.bytes[self.sent...]) {
            case .bytes(let count): self.sent += count
            case .wouldBlock:
                self.watch?.interest = .write
                return
            case .end, .failed:
                self.failed()
                return
            }
        }
        self.bytes.removeAll(keepingCapacity: true)
        self.sent = 0
        self.watch?.interest = []
    }
}
