import EventLoop
import RunDriver
import RunJudge
import Search
import SimBase
import SystemIO

/// A worker of a search, as its parent sees it.
final class WorkerProcess {
    /// What was left of its error output.
    private static let complaintBytesMax = 64 * 1_024

    private let receive: (SeedResult) -> Void
    private let ended: () -> Void
    private var process: ChildProcess?
    private let lines: Descriptor
    private let complaints: Descriptor
    private var watches: [Watch] = []
    private var bytes: [UInt8] = []
    private(set) var complaint: [UInt8] = []
    /// The last event that a tracing worker began.
    private(set) var lastEvent: String?
    private(set) var exit: ChildExit?
    private var openPipes = 2
    private var hasEnded = false

    /// Starts this very program with these words. `receive` gets each result, and `ended` is called when the process has ended
    /// and everything that it wrote has been read.
    init(
        _ words: [String], loop: Loop, receive: @escaping (SeedResult) -> Void, ended: @escaping () -> Void
    ) throws {
        self.receive = receive
        self.ended = ended
        let lines = try SystemIO.Pipe()
        let complaints = try SystemIO.Pipe()
        let plan = ChildPlan(
            executable: try ProgramFile.path(), arguments: words, environment: nil,
            inherited: [
                .init(source: lines.writing.number, target: 1),
                .init(source: complaints.writing.number, target: 2),
            ])
        let exited = Box<(ChildExit) -> Void> { _ in }
        self.process = try ChildProcess(plan, loop: loop) { exited.value($0) }
        // The writing ends close here, after the child has its own.
        self.lines = lines.takeReading()
        self.complaints = complaints.takeReading()
        try DescriptorIO.setNonblocking(self.lines.number, true)
        try DescriptorIO.setNonblocking(self.complaints.number, true)
        exited.value = { [unowned self] exit in
            self.exit = exit
            self.endIfOver()
        }
        self.watches = [
            loop.watch(self.lines.number, .read) { [unowned self] _ in self.readLines() },
            loop.watch(self.complaints.number, .read) { [unowned self] _ in self.readComplaints() },
        ]
    }

    deinit { for watch in self.watches { watch.cancel() } }

    func stop() { self.process?.signal(.terminate) }

    /// How it crashed; nil if it did not.
    var crash: String? {
        if case .signaled(let number)? = self.exit?.cause { "killed by signal \(number)" } else { nil }
    }

    /// What it complained of when it gave up by itself; nil if it did not.
    var refusal: String? {
        guard case .exited(let code)? = self.exit?.cause,
            code != ExitCode.success.rawValue, code != ExitCode.interrupted.rawValue
        else { return nil }
        let text = String(decoding: self.complaint, as: UTF8.self)
        return text.isEmpty ? "ended with exit code \(code)" : text
    }

    // MARK: Reading

    private func readLines() {
        self.read(self.lines, into: &self.bytes, watch: 0)
        while let end = self.bytes.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: self.bytes[..<end], as: UTF8.self)
            self.bytes.removeSubrange(...end)
            if line.hasPrefix(CampaignWorker.eventMark) {
                self.lastEvent = String(line.dropFirst(CampaignWorker.eventMark.count))
            } else if let result = SeedResult(line: line) {
                self.receive(result)
            }
        }
        self.endIfOver()
    }

    private func readComplaints() {
        self.read(self.complaints, into: &self.complaint, watch: 1)
        let excess = self.complaint.count - Self.complaintBytesMax
        if excess > 0 { self.complaint.removeFirst(excess) }
        self.endIfOver()
    }

    private func read(_ descriptor: borrowing Descriptor, into bytes: inout [UInt8], watch: Int) {
        switch DescriptorIO.read(descriptor.number, appendingTo: &bytes, limit: 65_536) {
        case .bytes, .wouldBlock: break
        case .end, .failed:
            self.watches[watch].interest = []
            self.openPipes -= 1
        }
    }

    private func endIfOver() {
        guard self.openPipes == 0, self.exit != nil, !self.hasEnded else { return }
        self.hasEnded = true
        self.ended()
    }
}
