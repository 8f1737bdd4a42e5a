import EventLoop
import SimBase
import SystemIO

/// A shard as the process that started it sees it.
final class ShardProcess {
    /// What is kept of its output and of its error output.
    private static let printedBytesMax = 64 * 1_024
    private static let complaintBytesMax = 16 * 1_024

    let shard: FleetShard
    let folder: String
    private var process: ChildProcess?
    private var orders: Descriptor?
    private let reports: Descriptor
    private let output: Descriptor
    private let errors: Descriptor
    private var watches: [Watch] = []
    private var bytes: [UInt8] = []
    private var printed: [UInt8] = []
    private var complaintBytes: [UInt8] = []
    private(set) var isReady = false
    /// Whether its phones have ended.
    private(set) var isJudging = false
    private(set) var progress = RunProgress()
    /// What it said of its last snapshot; nil before the first one.
    private(set) var snapshot: (measured: Instant, lateness: Interval)?
    /// How often it has said something.
    private(set) var messages = 0
    /// Why this process has ended it; nil if it has not.
    private(set) var endedFor: String?
    private(set) var exit: ChildExit?
    private var openPipes = 2

    /// Starts this very program with these words. `headers`: what its phones send with every request.
    init(
        _ words: [String], headers: [HeaderField], shard: FleetShard, folder: String, loop: Loop
    ) throws {
        self.shard = shard
        self.folder = folder
        let orders = try SystemIO.Pipe()
        let reports = try SystemIO.Pipe()
        let output = try SystemIO.Pipe()
        let errors = try SystemIO.Pipe()
        let headers = try ShardHeaders.send(headers)
        let plan = ChildPlan(
            executable: try ProgramFile.path(), arguments: words, environment: nil,
            inherited: [
                .init(source: output.writing.number, target: 1),
                .init(source: errors.writing.number, target: 2),
                .init(source: orders.reading.number, target: ShardDescriptor.orders),
                .init(source: reports.writing.number, target: ShardDescriptor.reports),
                .init(source: headers.number, target: ShardDescriptor.headers),
            ])
        let exited = Box<(ChildExit) -> Void> { _ in }
        self.process = try ChildProcess(plan, loop: loop) { exited.value($0) }
        self.orders = orders.takeWriting()
        self.reports = reports.takeReading()
        self.output = output.takeReading()
        self.errors = errors.takeReading()
        for number in [self.reports.number, self.output.number, self.errors.number] {
            try DescriptorIO.setNonblocking(number, true)
        }
        exited.value = { [unowned self] in self.exit = $0 }
        self.watches = [
            loop.watch(self.reports.number, .read) { [unowned self] _ in self.readReports() },
            loop.watch(self.output.number, .read) { [unowned self] _ in
                self.read(self.output.number, into: &self.printed, watch: 1)
                let excess = self.printed.count - Self.printedBytesMax
                if excess > 0 { self.printed.removeFirst(excess) }
            },
            loop.watch(self.errors.number, .read) { [unowned self] _ in
                self.read(self.errors.number, into: &self.complaintBytes, watch: 2)
                let excess = self.complaintBytes.count - Self.complaintBytesMax
                if excess > 0 { self.complaintBytes.removeFirst(excess) }
            },
        ]
    }

    deinit { for watch in self.watches { watch.cancel() } }

    var isOver: Bool { self.exit != nil && self.openPipes == 0 }

    /// The summary that it printed, which is in its folder as well if that could be written.
    var summary: String { String(decoding: self.printed, as: UTF8.self) }

    /// What it printed to standard error.
    var complaint: String { String(decoding: self.complaintBytes, as: UTF8.self) }

    var processID: Int32 { self.process?.processID ?? 0 }

    /// How it came to its end without a verdict; nil if it did not.
    var crash: String? {
        if let endedFor { return endedFor }
        return if case .signaled(let number)? = self.exit?.cause { "was killed by signal \(number)" } else {
            nil
        }
    }

    func send(_ message: ShardMessage) {
        guard let number = self.orders?.number else { return }
        _ = DescriptorIO.write(number, Array("\(message.line)\n".utf8)[...])
    }

    /// Lets it end as an interruption does, with its report.
    func interrupt() { self.orders = nil }

    /// Ends it at once.
    func end(for reason: String) {
        guard self.exit == nil else { return }
        self.endedFor = reason
        self.process?.signal(.kill)
    }

    private func readReports() {
        switch DescriptorIO.read(self.reports.number, appendingTo: &self.bytes, limit: 65_536) {
        case .bytes, .wouldBlock: break
        case .end, .failed: self.watches[0].interest = []
        }
        while let end = self.bytes.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: self.bytes[..<end], as: UTF8.self)
            self.bytes.removeFirst(end + 1)
            self.messages += 1
            switch ShardMessage(line: line) {
            case .ready: self.isReady = true
            case .progress(let progress): self.progress = progress
            case .snapshot(let measured, let lateness): self.snapshot = (measured, lateness)
            case .judging: self.isJudging = true
            case .show, .start, .control, nil: break
            }
        }
    }

    private func read(_ number: Int32, into bytes: inout [UInt8], watch: Int) {
        switch DescriptorIO.read(number, appendingTo: &bytes, limit: 65_536) {
        case .bytes, .wouldBlock: break
        case .end, .failed:
            self.watches[watch].interest = []
            self.openPipes -= 1
        }
    }
}
