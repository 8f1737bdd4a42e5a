import EventLoop
import Foundation
import LiveServer
import SimBase
import SystemIO

/// The embedded backend as the run sees it: a child process that is started, receives the run's zero,
/// reports, and ends.
final class BackendChild {
    /// The time that a child has to start, and to exit.
    static let patience = Interval.seconds(10)

    private let loop: Loop
    private let receive: ([BackendReport]) -> Void
    private var process: ChildProcess?
    private var zeroPipe: Descriptor?
    private let lines: Descriptor
    private let observations: Descriptor
    private var watches: [Watch] = []
    private var lineBytes: [UInt8] = []
    private var reader = BackendReportReader()

    private(set) var isReady = false
    private(set) var base: String?
    private(set) var exit: ChildExit?
    /// Everything that the child reports has arrived.
    private(set) var isToldOut = false
    private var hasBegun = false
    /// The sequence error in the child's report, if it is incomplete or out of order.
    private(set) var disorder: BackendReportReader.SequenceError?

    /// The end of the process as text, if it has ended.
    var endText: String? {
        guard let cause = self.exit?.cause else { return nil }
        if let text = self.disorderText {
            return "sent an incomplete or reordered list of observations (\(text))"
        }
        return switch cause {
        case .exited(let code): "died (exit code \(code))"
        case .signaled(let number): "died (killed by signal \(number))"
        }
    }

    /// Nil also where it died: the account of a process that died need not be whole.
    private var disorderText: String? {
        guard let disorder = self.disorder else { return nil }
        if case .unfinished = disorder, self.exit?.cause != .exited(code: 0) { return nil }
        return disorder.text
    }

    /// Whether the process and its reports ended properly.
    var hasEndedWell: Bool { self.exit?.cause == .exited(code: 0) && self.disorder == nil }

    /// Starts this very program with these words, `serve` or `proxy` with `--embedded`. `receive` gets the
    /// reports of the child.
    init(
        _ words: [String], loop: Loop, receive: @escaping ([BackendReport]) -> Void
    ) throws {
        self.loop = loop
        self.receive = receive
        let zero = try SystemIO.Pipe()
        let lines = try SystemIO.Pipe()
        let observations = try SystemIO.Pipe()
        let plan = ChildPlan(
            executable: try ProgramFile.path(),
            arguments: words,
            environment: nil,
            inherited: [
                .init(source: zero.reading.number, target: 0),
                .init(source: lines.writing.number, target: 1),
                .init(source: observations.writing.number, target: EmbeddedBackend.observationDescriptor),
            ])
        let exited = Box<(ChildExit) -> Void> { _ in }
        self.process = try ChildProcess(plan, loop: loop) { exited.value($0) }
        self.zeroPipe = zero.takeWriting()
        self.lines = lines.takeReading()
        self.observations = observations.takeReading()
        exited.value = { [unowned self] in self.exit = $0 }
        try DescriptorIO.setNonblocking(self.lines.number, true)
        try DescriptorIO.setNonblocking(self.observations.number, true)
        self.watches = [
            loop.watch(self.lines.number, .read) { [unowned self] _ in self.readLines() },
            loop.watch(self.observations.number, .read) { [unowned self] _ in self.readObservations() },
        ]
    }

    deinit { for watch in self.watches { watch.cancel() } }

    /// Sends the start of the run to the child, which then listens and reports it.
    func begin(clock: LoopClock, wallClockAtZero: Int64) {
        guard let number = self.zeroPipe?.number else { return }
        self.hasBegun = true
        _ = DescriptorIO.write(number, Array("\(clock.zero) \(wallClockAtZero)\n".utf8)[...])
        self.zeroPipe = nil
    }

    /// Lets the child exit by itself, as it would if this process ended.
    func release() {
        // Without a zero it does not wait for its lifeline yet.
        self.zeroPipe = nil
        self.process?.cutLifeline()
    }

    func kill() { self.process?.signal(.kill) }

    private func readLines() {
        switch DescriptorIO.read(self.lines.number, appendingTo: &self.lineBytes, limit: 4_096) {
        case .bytes, .wouldBlock: break
        case .end, .failed: self.watches[0].interest = []
        }
        while let end = self.lineBytes.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: self.lineBytes[..<end], as: UTF8.self)
            self.lineBytes.removeFirst(end + 1)
            if line == "ready" { self.isReady = true }
            if line.hasPrefix("listening ") { self.base = String(line.dropFirst("listening ".count)) }
        }
    }

    private func readObservations() {
        var bytes: [UInt8] = []
        var reports: [BackendReport] = []
        switch DescriptorIO.read(self.observations.number, appendingTo: &bytes, limit: 1 << 16) {
        case .bytes: break
        case .wouldBlock: return
        case .end, .failed:
            // A child that was released before it began has nothing to report, not even an end.
            if self.hasBegun {
                do throws(BackendReportReader.SequenceError) { try self.reader.finish() } catch {
                    self.disorder = error
                }
            }
            self.stopListening()
            return
        }
        do throws(BackendReportReader.SequenceError) {
            try self.reader.receive(bytes[...], into: &reports)
        } catch {
            self.disorder = error
            self.kill()
            self.stopListening()
        }
        if !reports.isEmpty { self.receive(reports) }
    }

    /// Stops reading: later reports are ignored.
    private func stopListening() {
        self.watches[1].interest = []
        self.isToldOut = true
    }
}
