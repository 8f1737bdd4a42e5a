import EventLoop
import RunControl
import SystemIO

/// The numbers under which a shard finds its pipes.
enum ShardDescriptor {
    static let orders = ChildDescriptor.firstFree
    static let reports = ChildDescriptor.firstFree + 1
    static let headers = ChildDescriptor.firstFree + 2
}

/// A shard's side of the pipes to the process that started it.
final class ShardLink {
    private let orders: Descriptor
    private let reports: Descriptor
    private var watch: Watch?
    private var bytes: [UInt8] = []
    /// The zero of the run, once it is known: as the monotonic clock reads it, and in nanoseconds since 1970.
    private(set) var start: (zero: Int64, wall: Int64)?
    /// Whether a dashboard shows the run.
    private(set) var isShown = false
    /// Hears what the operator has ordered.
    var onControl: (ControlEffect) -> Void = { _ in }
    /// The process that started this one has ended, or wants it to end.
    private(set) var hasEnded = false

    init(loop: Loop) throws(SystemError) {
        self.orders = try Descriptor.adopting(ShardDescriptor.orders)
        self.reports = try Descriptor.adopting(ShardDescriptor.reports)
        try DescriptorIO.setNonblocking(self.orders.number, true)
        try DescriptorIO.setNonblocking(self.reports.number, true)
        self.watch = loop.watch(self.orders.number, .read) { [unowned self] _ in self.readOrders() }
    }

    deinit { self.watch?.cancel() }

    /// One that cannot be written at once is left out: another one follows.
    func send(_ message: ShardMessage) {
        _ = DescriptorIO.write(self.reports.number, Array("\(message.line)\n".utf8)[...])
    }

    private func readOrders() {
        switch DescriptorIO.read(self.orders.number, appendingTo: &self.bytes, limit: 4_096) {
        case .bytes, .wouldBlock: break
        case .end, .failed:
            self.watch?.interest = []
            self.hasEnded = true
        }
        while let end = self.bytes.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: self.bytes[..<end], as: UTF8.self)
            self.bytes.removeFirst(end + 1)
            switch ShardMessage(line: line) {
            case .show: self.isShown = true
            case .start(let zero, let wall): self.start = (zero, wall)
            case .control(let effect): self.onControl(effect)
            case .ready, .progress, .snapshot, .judging, nil: break
            }
        }
    }
}
