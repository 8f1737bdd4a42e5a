import EventLoop
import Foundation
import LocustConnection
import LocustWorker
import RunArchive
package import RunDriver
package import RunJudge
import ScenarioFile
import SimBase
import SystemIO

/// A worker of a Locust master. Performs the effects of `LocustWorker` on one loop, which also runs the phones.
package final class WorkerDriver {
    /// The time between two checks for Ctrl-C.
    private static let interruptionInterval = Interval.milliseconds(100)
    /// The shortest time between two measurements. It is shorter than Locust's, so that short tests have a value.
    private static let usageInterval = Interval.seconds(3)

    let request: WorkerRequest
    let console: Console
    let loop: Loop
    private var machine: LocustWorker
    private var socket: MasterSocket?
    private var timer: LoopTimer?
    private var interruptionTimer: LoopTimer?
    /// The last measurement.
    private var usage: (at: Instant, processor: Interval)
    private var isHandling = false
    private var waiting: [LocustWorkerEvent] = []
    private var wasInterrupted = false
    private var exit: LocustWorkerExit?
    /// Work that runs the loop itself or takes long. It begins between two passes of the loop.
    private var work: [Work] = []
    private var scenario: WorkerScenario?
    var test: WorkerTest?
    /// The code of a scenario that could not be prepared.
    private var failure: ExitCode?
    /// The number of runs of each test.
    private var runsBegun: [String: Int] = [:]
    /// The exit codes of all runs.
    private var codes: [ExitCode] = []

    private enum Work {
        case prepare(ScenarioOffer)
        case run(TestOrder, host: String?)
    }

    package init(_ request: WorkerRequest, console: Console) throws {
        self.request = request
        self.console = console
        self.loop = try Loop(clock: .startingNow())
        self.machine = LocustWorker(
            LocustWorkerSettings(
                tool: ThisProgram.tool, phonesMax: request.phonesMax,
                masterSilenceMax: request.masterSilenceMax))
        self.usage = (self.loop.now(), ResourceUsage.own().processor)
        // The form of Locust's own workers. The master reads the host before the underscore, to spread users over hosts.
        let digits = Hexadecimal.text(UInt64.random(in: .min ... .max), digits: 16)
        let host = ProcessInfo.processInfo.hostName.replacing("_", with: "-")
        self.socket = try MasterSocket(
            host: request.host, port: request.port, identity: "\(host)_\(digits)", loop: self.loop
        ) { [unowned self] message in
            self.handle(message.map { .received($0) } ?? .receivedMalformed)
        }
        self.timer = LoopTimer(loop: self.loop) { [unowned self] _ in
            self.measureUsage()
            self.handle(.woke)
        }
        self.interruptionTimer = LoopTimer(loop: self.loop) { [unowned self] _ in
            self.noticeInterruption()
            self.interruptionTimer?.arm(after: Self.interruptionInterval)
        }
    }

    /// Serves the master until it ends the worker. Returns the worst exit code of the runs.
    package func run() -> ExitCode {
        self.console.error("worker: waiting for the master at \(self.request.host):\(self.request.port)")
        self.interruptionTimer?.arm(after: Self.interruptionInterval)
        self.handle(.started)
        while self.exit == nil {
            while self.exit == nil, !self.work.isEmpty { self.carryOut(self.work.removeFirst()) }
            if self.exit == nil { self.loop.runOnce() }
        }
        self.socket?.close()
        self.scenario?.remove()
        switch self.exit {
        case .noMaster:
            self.console.error(
                "swiftwing-sim: no master answers at \(self.request.host):\(self.request.port)")
            return ExitCode.worst(self.codes + [.unavailable])
        case .refused: return ExitCode.worst(self.codes + [.badData])
        case .preparationFailed: return ExitCode.worst(self.codes + [self.failure ?? .internalError])
        case .interrupted: return ExitCode.worst(self.codes + [.interrupted])
        case .quitByMaster, nil: return ExitCode.worst(self.codes)
        }
    }

    // MARK: The machine

    /// Passes an event to the machine. An event that arrives during another one is handled after it.
    func handle(_ event: LocustWorkerEvent) {
        self.waiting.append(event)
        guard !self.isHandling else { return }
        self.isHandling = true
        while !self.waiting.isEmpty {
            var effects: [LocustWorkerEffect] = []
            self.machine.handle(self.waiting.removeFirst(), at: self.loop.now(), into: &effects)
            for effect in effects { self.carryOut(effect) }
        }
        self.isHandling = false
        if let wake = self.machine.nextWake { self.timer?.arm(at: wake) } else { self.timer?.disarm() }
    }

    private func carryOut(_ effect: LocustWorkerEffect) {
        switch effect {
        case .send(let message): self.send(message)
        case .report(let users):
            self.send(.stats(self.test?.report(users) ?? StatsReport(requests: [], errors: [], users: users)))
        case .resetConnection:
            do throws(SystemError) { try self.socket?.reset() } catch {
                self.console.error("swiftwing-sim: cannot connect to the master: \(error)")
            }
        case .prepare(let offer): self.work.append(.prepare(offer))
        case .beginRun(let order, let host):
            self.test = WorkerTest(order)
            self.work.append(.run(order, host: host))
        case .open(let phones): self.test?.open(phones)
        case .close(let devices):
            let unopened = self.test?.close(devices) ?? []
            if !unopened.isEmpty { self.handle(.closed(unopened)) }
        case .endRun(let end): self.test?.end(end)
        case .handOver(let test): self.handOver(test)
        case .note(let note): self.console.error("worker: \(note.text(self.request))")
        case .exit(let exit): self.exit = exit
        }
    }

    func send(_ message: WorkerMessage) { self.socket?.send(message) }

    private func noticeInterruption() {
        guard !self.wasInterrupted, Interruption.isRequested else { return }
        self.wasInterrupted = true
        self.handle(.interrupted)
    }

    private func measureUsage() {
        let now = self.loop.now()
        let passed = now - self.usage.at
        guard passed >= Self.usageInterval else { return }
        let own = ResourceUsage.own()
        let used = own.processor - self.usage.processor
        self.usage = (now, own.processor)
        // Billionths of a percent.
        let share = used.nanoseconds / max(1, passed.nanoseconds / 1_000_000) * 100_000
        self.handle(
            .usageMeasured(ProcessUsage(processorPercent: share, residentBytes: own.residentMax)))
    }

    // MARK: Work

    private func carryOut(_ work: Work) {
        switch work {
        case .prepare(let offer): self.prepare(offer)
        case .run(let order, let host): self.run(order, host: host)
        }
    }

    private func prepare(_ offer: ScenarioOffer) {
        do {
            self.scenario?.remove()
            self.scenario = nil
            self.scenario = try WorkerScenario(offer, painter: self.request.painter)
            self.console.error("worker: ready for the scenario \(Printable.line(offer.name))")
            self.handle(.prepared)
        } catch {
            self.failure = self.report(error, of: "the scenario of the master cannot be prepared")
            self.handle(.preparationFailed)
        }
    }

    private func run(_ order: TestOrder, host: String?) {
        guard let test = self.test, let scenario = self.scenario else { return }
        let code: ExitCode
        do {
            // A worker that loses its master and connects again has several runs in a test, each in its own folder.
            let ordinal = self.runsBegun[order.test, default: 0] + 1
            self.runsBegun[order.test] = ordinal
            let name =
                (self.socket.map { String($0.identity.suffix(8)) } ?? "") + (ordinal > 1 ? "-\(ordinal)" : "")
            self.console.error("worker: test \(order.test) begins")
            let preparation = try scenario.preparation(
                of: order, on: host, loop: self.loop, self.request, worker: name)
            defer { preparation.state.removeIfTemporary() }
            let run = try LiveRun(preparation, console: self.console)
            run.onClosed { [unowned self] phones in
                self.handle(.closed(phones.map { ClosedPhone(number: $0.number, lastScan: $0.lastScan) }))
            }
            test.begin(run, groups: scenario.groups)
            code = try run.run()
        } catch {
            code = self.report(error, of: "the test cannot be run")
        }
        test.code = code
        self.codes.append(code)
        self.handle(.runEnded)
    }

    /// Reports an error on the console and to the master. Returns its exit code.
    private func report(_ error: any Error, of what: String) -> ExitCode {
        let (code, text, hint): (ExitCode, String, String?) =
            switch error {
            case let failure as CommandFailure: (failure.code, failure.message, failure.hint)
            case let errors as ScenarioErrors: (.badData, errors.render(color: false, columns: nil), nil)
            default: (.internalError, "\(error)", nil)
            }
        self.console.error("swiftwing-sim: \(what): \(text)")
        if let hint { self.console.error("help: \(hint)") }
        self.send(.exception("\(what): \(text)"))
        return code
    }

    // MARK: Evidence

    private func handOver(_ id: String) {
        guard let test = self.test, test.id == id else { return }
        let files = test.evidence
        for file in files {
            for start in stride(from: 0, to: file.bytes.count, by: EvidencePart.bytesMax) {
                let piece = file.bytes[start..<min(start + EvidencePart.bytesMax, file.bytes.count)]
                // The master compares the sizes of files, and finds a missing piece.
                guard let packed = Deflate.packed(Array(piece)) else { continue }
                self.send(
                    .evidence(EvidencePart(test: id, file: file.name, offset: start, bytes: packed)))
            }
        }
        self.send(
            .evidenceComplete(
                EvidenceList(
                    test: id, files: files.map { .init(name: $0.name, size: $0.bytes.count) },
                    code: test.code.rawValue, folder: test.folder)))
    }
}
