import Observations
import RunArchive
import RunMetrics
import SimBase
import Talaria

/// One phone's timeline as lanes: the app, its scans, the link, the streams and the faults.
struct PhoneLanes {
    /// The state that a span shows. The raw value is the CSS class.
    enum SpanState: String {
        case on, off, gone, opening, bad
        case upload, limited, backoff, queue
    }

    struct Span {
        var from: Int64
        /// Nil if the span lasts until the end of the run.
        var to: Int64?
        var row: Int
        var state: SpanState
        var text: String
    }

    struct Mark {
        var at: Int64
        var tone: Tone
        var text: String
    }

    /// The scan or the fault that an open span belongs to.
    private enum Subject: Equatable {
        case scan(ScanNumber)
        case fault(Int)
    }

    struct Lane {
        var name: String
        var spans: [Span] = []
        var marks: [Mark] = []
        var rows: Int { (self.spans.map(\.row).max() ?? 0) + 1 }
    }

    let axis: TimeAxis
    /// The slowest scan; nil if there is none.
    let slow: ScanTime?
    private var app = Lane(name: "app")
    let noun: WorkNoun
    private var scans: Lane
    private var link = Lane(name: "link")
    private var streams = Lane(name: "streams")
    private var ids = Lane(name: "last id")
    private var queue = Lane(name: "queue")
    private var uploads = Lane(name: "uploads")
    private var waits = Lane(name: "waits")
    private var faults = Lane(name: "faults")
    /// The spans without an end, by their index in the lane.
    private var open: [(subject: Subject, lane: WritableKeyPath<PhoneLanes, Lane>, index: Int)] = []
    /// The losses and failures after which a scan waits before its next attempt.
    private var backingOff: [(scan: ScanNumber, at: Int64, isUpload: Bool)] = []

    /// `noun`: what the phone does. `slow`: its slowest scan.
    init(
        _ timeline: PhoneTimeline, _ noun: WorkNoun, slow: ScanTime?, axis: TimeAxis, faults names: [String]
    ) {
        self.slow = slow
        self.axis = axis
        self.noun = noun
        self.scans = Lane(name: noun.many)
        self.app.spans.append(Span(from: 0, to: nil, row: 0, state: .on, text: "app in the foreground"))
        self.link.spans.append(Span(from: 0, to: nil, row: 0, state: .on, text: "online"))
        for observation in timeline.observations {
            let at = max(0, observation.at.nanoseconds)
            switch observation.what {
            case .phone(let payload): self.add(payload, observation.scan, at)
            case .fault(let payload): self.add(payload, at, names)
            case .backend, .network, .control: break
            }
        }
    }

    // MARK: Observations

    private mutating func begin(
        _ lane: WritableKeyPath<PhoneLanes, Lane>, _ subject: Subject, _ at: Int64, _ state: SpanState,
        _ text: String
    ) {
        self.end(lane, subject, at)
        let used = self.open.filter { $0.lane == lane }.map { self[keyPath: lane].spans[$0.index].row }
        let row = (0..<12).first { !used.contains($0) } ?? 11
        self[keyPath: lane].spans.append(Span(from: at, to: nil, row: row, state: state, text: text))
        self.open.append((subject, lane, self[keyPath: lane].spans.count - 1))
    }

    private mutating func end(_ lane: WritableKeyPath<PhoneLanes, Lane>, _ subject: Subject, _ at: Int64) {
        guard let index = self.open.firstIndex(where: { $0.lane == lane && $0.subject == subject })
        else { return }
        self[keyPath: lane].spans[self.open[index].index].to = at
        self.open.remove(at: index)
    }

    private mutating func endAll(_ lane: WritableKeyPath<PhoneLanes, Lane>, _ at: Int64) {
        for entry in self.open where entry.lane == lane { self.end(lane, entry.subject, at) }
    }

    /// The one span of a lane that has a state changes into another.
    private mutating func turn(
        _ lane: WritableKeyPath<PhoneLanes, Lane>, _ at: Int64, _ state: SpanState, _ text: String
    ) {
        let last = self[keyPath: lane].spans.count - 1
        if last >= 0, self[keyPath: lane].spans[last].to == nil {
            if self[keyPath: lane].spans[last].state == state { return }
            self[keyPath: lane].spans[last].to = at
        }
        self[keyPath: lane].spans.append(Span(from: at, to: nil, row: 0, state: state, text: text))
    }

    private mutating func add(_ payload: FaultObservation, _ at: Int64, _ names: [String]) {
        func name(_ fault: Int) -> String { names.indices.contains(fault) ? names[fault] : "#\(fault)" }
        switch payload {
        case .fired(let fault, let operation, _):
            self.faults.marks.append(Mark(at: at, tone: .bad, text: "\(name(fault)) on \(operation.name)"))
        case .began(let fault):
            self.begin(\.faults, .fault(fault), at, .bad, name(fault))
        case .ended(let fault): self.end(\.faults, .fault(fault), at)
        case .decided, .passed: break
        }
    }

    private mutating func add(_ payload: PhoneObservation, _ scan: ScanNumber, _ at: Int64) {
        let name = "\(self.noun.one) \(scan.raw)"
        switch payload {
        case .launched, .resumed: self.turn(\.app, at, .on, "app in the foreground")
        case .suspended:
            self.turn(\.app, at, .off, "app in the background")
            self.forget(at)
        case .killed:
            self.turn(\.app, at, .gone, "app killed")
            self.forget(at)
        case .reinstalled:
            self.turn(\.app, at, .gone, "app reinstalled")
            self.forget(at)
            self.endAll(\.scans, at)
        case .pathLost: self.turn(\.link, at, .gone, "offline")
        case .pathReturned: self.turn(\.link, at, .on, "online")
        case .pathChanged: self.link.marks.append(Mark(at: at, tone: .warn, text: "handover"))
        case .captured:
            self.begin(\.scans, .scan(scan), at, .on, name)
            self.begin(\.queue, .scan(scan), at, .queue, "\(name) waits for its upload")
        case .queued(let cause) where cause.isFailure:
            // The wait after a failed upload goes on in the queue.
            guard !self.backingOff.contains(where: { $0.scan == scan && $0.isUpload }) else { return }
            self.endBackoff(scan, at)
            self.backOff(scan, at, isUpload: true)
        case .queued: self.endBackoff(scan, at)
        case .completed: self.end(\.scans, .scan(scan), at)
        case .canceled:
            self.endBackoff(scan, at)
            for lane in [\Self.scans, \Self.streams, \Self.queue, \Self.uploads] {
                self.end(lane, .scan(scan), at)
            }
            self.scans.marks.append(Mark(at: at, tone: .plain, text: "\(name) canceled"))
        case .refused(let code, _):
            self.endBackoff(scan, at)
            self.end(\.scans, .scan(scan), at)
            self.end(\.queue, .scan(scan), at)
            self.scans.marks.append(Mark(at: at, tone: .bad, text: "\(name) refused: \(code)"))
        case .lostFromStorage:
            self.scans.marks.append(Mark(at: at, tone: .bad, text: "\(name) missing from the state folder"))
        default: self.addRequest(payload, scan, at, name)
        }
    }

    /// Requests and streams.
    private mutating func addRequest(
        _ payload: PhoneObservation, _ scan: ScanNumber, _ at: Int64, _ name: String
    ) {
        switch payload {
        case .requestSent(.upload, let attempt, _, _):
            self.endBackoff(scan, at)
            self.end(\.queue, .scan(scan), at)
            self.begin(\.uploads, .scan(scan), at, .upload, "upload of \(name), attempt \(attempt)")
        case .requestFailed(.upload, _, let failure, _):
            self.end(\.uploads, .scan(scan), at)
            self.uploads.marks.append(Mark(at: at, tone: .bad, text: "upload failed: \(failure.rawValue)"))
            self.backOff(scan, at, isUpload: true)
        case .replied(let operation, _, let status, _): self.addReply(status, to: operation, scan, at)
        case .rateLimited(let operation, let wait):
            let told = "429 to \(operation.name) of \(name): wait \(Figures.time(wait.nanoseconds))"
            self.wait(.limited, from: at, to: at + wait.nanoseconds, "\(told) (Retry-After)")
        case .requestSent(.stream, _, _, let id):
            self.endBackoff(scan, at)
            self.begin(\.streams, .scan(scan), at, .opening, "connecting for \(name)")
            if let id { self.ids.marks.append(Mark(at: at, tone: .warn, text: "Last-Event-ID \(id)")) }
        case .streamOpened:
            self.begin(\.streams, .scan(scan), at, .on, "stream of \(name)")
        case .eventApplied(_, let id, let kind, _, _):
            let text = kind.rawValue + (id.map { " \($0)" } ?? "")
            self.ids.marks.append(Mark(at: at, tone: .good, text: text))
        case .terminalApplied: self.end(\.streams, .scan(scan), at)
        case .streamLost(_, _, let cause, _):
            self.end(\.streams, .scan(scan), at)
            self.backOff(scan, at, isUpload: false)
            self.streams.marks.append(Mark(at: at, tone: .bad, text: "lost: \(cause.rawValue)"))
        case .reconnectGivenUp, .reconnectSuperseded: self.endBackoff(scan, at)
        default: break
        }
    }

    private mutating func addReply(
        _ status: Int, to operation: Operation, _ scan: ScanNumber, _ at: Int64
    ) {
        guard status != 101 else { return }  // It opens a WebSocket.
        if operation == .upload { self.end(\.uploads, .scan(scan), at) }
        // A stream that is refused because its job is over is not lost: it has no other end.
        if operation == .stream, !(200..<300).contains(status) { self.end(\.streams, .scan(scan), at) }
        if operation == .upload, (500..<600).contains(status) { self.backOff(scan, at, isUpload: true) }
        if PhoneObservation.isError(status: status) {
            self.scans.marks.append(Mark(at: at, tone: .warn, text: "\(operation.name): HTTP \(status)"))
        }
    }

    private mutating func forget(_ at: Int64) {
        self.endAll(\.streams, at)
        self.endAll(\.uploads, at)
        self.backingOff = []
    }

    private mutating func backOff(_ scan: ScanNumber, _ at: Int64, isUpload: Bool) {
        if self.backingOff.count < 64 { self.backingOff.append((scan, at, isUpload)) }
    }

    private mutating func endBackoff(_ scan: ScanNumber, _ at: Int64) {
        guard let index = self.backingOff.firstIndex(where: { $0.scan == scan }) else { return }
        let (_, from, isUpload) = self.backingOff.remove(at: index)
        guard at > from else { return }
        let what = isUpload ? "uploading again" : "reconnecting"
        self.wait(
            .backoff, from: from, to: at,
            "waited \(Figures.time(at - from)) before \(what), \(self.noun.one) \(scan.raw)"
                + (isUpload ? " (backoff or Retry-After)" : " (backoff)"))
    }

    private mutating func wait(_ state: SpanState, from: Int64, to: Int64, _ text: String) {
        let used = self.waits.spans.filter { ($0.to ?? .max) > from }.map(\.row)
        let row = (0..<12).first { !used.contains($0) } ?? 11
        self.waits.spans.append(Span(from: from, to: to, row: row, state: state, text: text))
    }

    var lanes: [Lane] {
        [
            self.app, self.scans, self.queue, self.uploads, self.waits, self.link, self.streams, self.ids,
            self.faults,
        ]
    }
}
