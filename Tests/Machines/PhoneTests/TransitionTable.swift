import SimBase
import SimTestSupport
import Talaria

@testable import Phone

enum TransitionTable {
    static let scan = Transition.all(of: ScanState.self, by: ScanInput.self)
    static let process = Transition.all(of: ProcessState.self, by: ProcessInput.self)

    static let scanPage = """
        # Scan

        The states of one scan in the app, with the `contract` profile. `waiting` is `ScanQueue`; the states from `uploading` to
        `cleaning` are `ActiveScan.Stage`. What is not listed leaves a scan where it is. A kill brings every scan back to
        `waiting`, with what its durable record says. A scan is in `polling` and `unpolled` with `status-polling: always` only. A
        user who cancels (`cancel`) brings a scan to `filing` from every state before it but `uploading`.

        \(Transition.table(Self.scan))

        """

    static let processPage = """
        # Process

        The states of the app's process on its phone: `Phone.isAlive` and `App.Phase`. What is not listed changes nothing.

        \(Transition.table(Self.process))

        """
}

// MARK: The scan

enum ScanState: String, MachineState {
    case waiting, uploading, recording, opening, streaming, disconnected, polling, unpolled, fetching,
        unfetched, filing, cleaning
    case settled

    static func of(_ phone: TestPhone) -> Self { phone.scanState }

    /// An app whose scan 1 is in this state.
    func reached() -> TestPhone {
        var phone = TestPhone()
        switch self {
        case .waiting:
            phone.preparesByItself = false
            phone.capture(1)
        case .uploading: phone.capture(1)
        case .recording:
            phone.capture(1)
            phone.storesByItself = false
            phone.accept()
        case .opening:
            phone.capture(1)
            phone.accept()
        case .streaming: phone.captureToStream()
        case .disconnected:
            phone.captureToStream()
            phone.fail(.stream, .reset)
        case .polling:
            phone = Self.unpolled.reached()
            phone.pass(.seconds(2))
        case .unpolled:
            var profile = ClientProfile.contract
            profile.status.polling = .always
            phone = TestPhone(profile: profile)
            phone.capture(1)
            phone.accept()
        case .fetching:
            phone.captureToStream()
            phone.stream(Wording.completed(rawBooks: nil))
        case .unfetched:
            phone = Self.fetching.reached()
            phone.answer(.results, 503)
        case .filing:
            phone.captureToStream()
            phone.storesByItself = false
            phone.stream(Wording.completed(books: 2))
        case .cleaning:
            phone.captureToStream()
            phone.stream(Wording.completed(books: 2))
        case .settled:
            phone = Self.cleaning.reached()
            phone.answer(.cleanup, 204)
        }
        return phone
    }
}

extension TestPhone {
    var scanState: ScanState {
        guard let active = self.app.active.first else {
            return self.app.queue.count > 0 ? .waiting : .settled
        }
        return switch active.stage {
        case .uploading: .uploading
        case .recording: .recording
        case .opening: .opening
        case .streaming: .streaming
        case .disconnected: .disconnected
        case .polling: .polling
        case .unpolled: .unpolled
        case .fetching: .fetching
        case .unfetched: .unfetched
        case .filing: .filing
        case .cleaning: .cleaning
        }
    }
}

enum ScanInput: String, MachineInput {
    case photoPrepared = "the photo is prepared"
    case photoRejected = "the photo cannot be used"
    case uploadAccepted = "upload: 202"
    case uploadLimited = "upload: 429"
    case uploadRefused = "upload: 422"
    case uploadFailed = "upload: 503"
    case stored = "its writes are durable"
    case streamOpened = "stream: 200"
    case streamUnauthorized = "stream: 401"
    case streamRefused = "stream: 503"
    case streamLost = "the stream breaks off"
    case completedWithBooks = "event `completed` with books"
    case completedWithout = "event `completed` without books"
    case finalError = "event `error`, not retryable"
    case retryableError = "event `error`, retryable"
    case statusRunning = "status: 200, `processing`"
    case statusCompleted = "status: 200, `completed`"
    case statusEnded = "status: 200, `failed`"
    case statusUnauthorized = "status: 401"
    case statusFailed = "status: 503"
    case results = "results: 200"
    case resultsUnauthorized = "results: 401"
    case resultsFailed = "results: 503"
    case cleaned = "DELETE: 204"
    case waited = "the backoff is over"
    case pathLost = "the path is lost"
    case suspended = "the app leaves the screen"

    /// False where the input cannot come.
    func apply(to phone: inout TestPhone) -> Bool {
        func isOpen(_ operation: Talaria.Operation) -> Bool { phone.request(operation) != nil }
        /// The answer to a request without an answer so far.
        func answer(_ operation: Talaria.Operation, _ status: Int, _ body: [UInt8] = []) -> Bool {
            guard let request = phone.request(operation), !phone.begun.contains(request.id) else {
                return false
            }
            phone.answer(operation, status, body)
            return true
        }
        func event(_ text: String) -> Bool {
            guard phone.scanState == .streaming else { return false }
            phone.stream(text)
            return true
        }
        switch self {
        case .photoPrepared:
            guard phone.preparing.contains(ScanNumber(1)) else { return false }
            phone.handle(.photoPrepared(scan: ScanNumber(1), bytes: 1_000, took: nil))
        case .photoRejected:
            guard phone.preparing.contains(ScanNumber(1)) else { return false }
            phone.handle(.photoRejected(scan: ScanNumber(1), reason: "too dark"))
        case .uploadAccepted:
            guard isOpen(.upload) else { return false }
            phone.storesByItself = false
            phone.accept()
        case .uploadLimited: return answer(.upload, 429)
        case .uploadRefused:
            guard isOpen(.upload) else { return false }
            phone.storesByItself = false
            return answer(.upload, 422)
        case .uploadFailed: return answer(.upload, 503)
        case .stored:
            guard !phone.storesByItself else { return false }
            phone.handle(.stored(phone.lastWriteID))
        case .streamOpened:
            guard phone.scanState == .opening else { return false }
            phone.openStream()
        case .streamUnauthorized: return answer(.stream, 401)
        case .streamRefused: return answer(.stream, 503)
        case .streamLost:
            guard phone.scanState == .streaming else { return false }
            phone.fail(.stream, .reset)
        case .completedWithBooks:
            phone.storesByItself = false
            return event(Wording.completed(books: 2))
        case .completedWithout: return event(Wording.completed(rawBooks: nil))
        case .finalError:
            phone.storesByItself = false
            return event(Wording.error(retryable: false))
        case .retryableError: return event(Wording.error(retryable: true))
        case .statusRunning: return answer(.status, 200, Wording.status(.processing))
        case .statusCompleted: return answer(.status, 200, Wording.status(.completed))
        case .statusEnded: return answer(.status, 200, Wording.status(.failed))
        case .statusUnauthorized: return answer(.status, 401)
        case .statusFailed: return answer(.status, 503)
        case .results:
            phone.storesByItself = false
            return answer(.results, 200, Wording.results(books: 2))
        case .resultsUnauthorized: return answer(.results, 401)
        case .resultsFailed: return answer(.results, 503)
        case .cleaned: return answer(.cleanup, 204)
        case .waited:
            guard phone.app.active.first?.stage.pause != nil, let wake = phone.app.nextWake else {
                return false
            }
            phone.now = max(phone.now, wake)
            phone.handle(.woke)
        case .pathLost:
            phone.handle(.pathLost)
        case .suspended:
            phone.handle(.suspended)
        }
        return true
    }
}

// MARK: The process

enum ProcessState: String, MachineState {
    case running, suspended, frozen, dead

    static func of(_ bench: Bench) -> Self { bench.processState }

    func reached() -> Bench {
        var bench = Bench()
        switch self {
        case .running: break
        case .suspended:
            // Something is left to clean up, so that the time in the background matters.
            bench.capture()
            bench.flush()
            bench.accept()
            bench.flush()
            bench.complete(books: 1)
            bench.flush()
            bench.act(.begins(bench.window(.background, from: 0, to: 60)))
        case .frozen:
            bench = Self.suspended.reached()
            bench.now = bench.now + AppLimits.backgroundTime
            bench.handle(app: .woke)
        case .dead: bench.act(.begins(bench.window(.kill, from: 0, to: 60)))
        }
        return bench
    }
}

extension Bench {
    var processState: ProcessState {
        guard self.phone.isAlive else { return .dead }
        return switch self.phone.app.phase {
        case .off, .running: .running
        case .suspended: .suspended
        case .frozen: .frozen
        }
    }
}

enum ProcessInput: String, MachineInput {
    case backgroundBegins = "a `background` begins"
    case backgroundEnds = "the `background` ends"
    case killBegins = "a `kill` or `reinstall` begins"
    case killEnds = "the `kill` or `reinstall` ends"
    case timePasses = "the time in the background is over"
    case runEnds = "the run ends"
    case faultsEnd = "all faults end"

    /// False where the input cannot come.
    func apply(to bench: inout Bench) -> Bool {
        let state = bench.processState
        let (away, dead) = (bench.window(.background, from: 0, to: 60), bench.window(.kill, from: 0, to: 60))
        switch self {
        case .backgroundBegins: bench.act(.begins(away))
        case .backgroundEnds:
            guard state == .suspended || state == .frozen else { return false }
            bench.act(.ends(away))
        case .killBegins: bench.act(.begins(dead))
        case .killEnds:
            guard state == .dead else { return false }
            bench.act(.ends(dead))
        case .timePasses:
            guard state == .suspended else { return false }
            bench.now = bench.now + AppLimits.backgroundTime
            bench.handle(app: .woke)
        case .runEnds: bench.handle(.runEnded)
        case .faultsEnd: bench.handle(.faultsEnded)
        }
        return true
    }
}
