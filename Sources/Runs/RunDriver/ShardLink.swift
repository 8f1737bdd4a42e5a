import EventLoop
import Ledger
import LivePhones
import SimBase
import SystemIO

/// The messages between a run in several processes and its shards, as lines of numbers on two pipes.
enum ShardMessage: Equatable {
    /// From a shard: it can start.
    case ready
    /// From a shard: how it stands.
    case progress(ShardProgress)
    /// From a shard: its phones have ended. It judges the run and writes its reports, and says nothing meanwhile.
    case judging
    /// To a shard: its zero, in nanoseconds since 1970.
    case start(at: Int64)

    var line: String {
        switch self {
        case .ready: "ready"
        case .progress(let progress):
            "progress \(progress.numbers.map(String.init).joined(separator: " "))"
        case .judging: "judging"
        case .start(let at): "start \(at)"
        }
    }

    init?(line: String) {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard numbers.count == words.count - 1 else { return nil }
        switch (words.first ?? "", numbers.count) {
        case ("ready", 0): self = .ready
        case ("judging", 0): self = .judging
        case ("start", 1): self = .start(at: numbers[0])
        case ("progress", ShardProgress.count):
            self = .progress(ShardProgress(numbers: numbers.map { Int($0) }))
        default: return nil
        }
    }
}

/// How a shard stands, for the progress line.
struct ShardProgress: Equatable {
    static let count = 5

    var captured = 0
    var completed = 0
    var canceled = 0
    var busy = 0
    var offline = 0

    init() {}

    init(_ gauges: FleetGauges, _ scans: ScanTotals) {
        self.captured = gauges.captured
        self.completed = scans.completed
        self.canceled = scans.canceled
        self.busy = gauges.phonesBusy
        self.offline = gauges.phonesOffline
    }

    init(numbers: [Int]) {
        self.captured = numbers[0]
        self.completed = numbers[1]
        self.canceled = numbers[2]
        self.busy = numbers[3]
        self.offline = numbers[4]
    }

    var numbers: [Int] { [self.captured, self.completed, self.canceled, self.busy, self.offline] }

    mutating func add(_ other: ShardProgress) {
        self.captured += other.captured
        self.completed += other.completed
        self.canceled += other.canceled
        self.busy += other.busy
        self.offline += other.offline
    }
}

/// The numbers under which a shard finds its pipes.
enum ShardDescriptor {
    static let orders = ChildDescriptor.firstFree
    static let reports = ChildDescriptor.firstFree + 1
}

/// A shard's side of the pipes to the process that started it.
final class ShardLink {
    private let orders: Descriptor
    private let reports: Descriptor
    private var watch: Watch?
    private var bytes: [UInt8] = []
    /// The zero of the run in nanoseconds since 1970, once it is known.
    private(set) var startAt: Int64?
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
            if case .start(let at)? = ShardMessage(line: line) { self.startAt = at }
        }
    }
}
