import Observations
import RunArchive
import SimBase
import Talaria

/// One phone's timeline as lanes: the app, its scans, the link, the streams and the faults.
struct PhoneLanes {
    /// The state that a span shows. The raw value is the CSS class.
    enum SpanState: String {
        case on, off, gone, opening, wait, bad
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

    private static let elementsMax = 700

    let axis: TimeAxis
    private var app = Lane(name: "app")
    private let noun: WorkNoun
    private var scans: Lane
    private var link = Lane(name: "link")
    private var streams = Lane(name: "streams")
    private var ids = Lane(name: "last id")
    private var backoff = Lane(name: "backoff")
    private var faults = Lane(name: "faults")
    /// The spans without an end, by their index in the lane.
    private var open: [(subject: Subject, lane: WritableKeyPath<PhoneLanes, Lane>, index: Int)] = []
    private var lostAt: [(scan: ScanNumber, at: Int64)] = []

    /// `noun`: what the phone does.
    init(_ timeline: PhoneTimeline, _ noun: WorkNoun, axis: TimeAxis, faults names: [String]) {
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
            case .backend, .network: break
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
        case .decided: break
        }
    }

    private mutating func add(_ payload: PhoneObservation, _ scan: ScanNumber, _ at: Int64) {
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
            self.begin(\.scans, .scan(scan), at, .on, "\(self.noun.one) \(scan.raw)")
        case .completed: self.end(\.scans, .scan(scan), at)
        case .canceled:
            self.end(\.scans, .scan(scan), at)
            self.end(\.streams, .scan(scan), at)
            self.scans.marks.append(Mark(at: at, tone: .plain, text: "\(self.noun.one) \(scan.raw) canceled"))
        case .refused(let code, _):
            self.end(\.scans, .scan(scan), at)
            self.scans.marks.append(
                Mark(at: at, tone: .bad, text: "\(self.noun.one) \(scan.raw) refused: \(code)"))
        case .requestSent(.stream, _, _, let id):
            self.endBackoff(scan, at)
            self.begin(\.streams, .scan(scan), at, .opening, "connecting for \(self.noun.one) \(scan.raw)")
            if let id {
                self.ids.marks.append(Mark(at: at, tone: .warn, text: "Last-Event-ID \(id)"))
            }
        case .streamOpened:
            self.begin(\.streams, .scan(scan), at, .on, "stream of \(self.noun.one) \(scan.raw)")
        case .streamLost(_, _, let cause, _):
            self.end(\.streams, .scan(scan), at)
            if self.lostAt.count < 64 { self.lostAt.append((scan, at)) }
            self.streams.marks.append(Mark(at: at, tone: .bad, text: "lost: \(cause.rawValue)"))
        case .terminalApplied: self.end(\.streams, .scan(scan), at)
        case .eventApplied(_, let id, let kind, _, _):
            self.ids.marks.append(
                Mark(at: at, tone: .good, text: "\(kind.rawValue)\(id.map { " \($0)" } ?? "")"))
        case .replied(let operation, _, let status, _):
            if !(200..<400).contains(status) {
                self.scans.marks.append(
                    Mark(at: at, tone: .warn, text: "\(operation.name): HTTP \(status)"))
            }
        case .queued, .reconnectGivenUp, .reconnectSuperseded: self.endBackoff(scan, at)
        case .lostFromStorage:
            self.scans.marks.append(
                Mark(at: at, tone: .bad, text: "\(self.noun.one) \(scan.raw) missing from the state folder"))
        default: break
        }
    }

    private mutating func forget(_ at: Int64) {
        self.endAll(\.streams, at)
        self.lostAt = []
    }

    private mutating func endBackoff(_ scan: ScanNumber, _ at: Int64) {
        guard let index = self.lostAt.firstIndex(where: { $0.scan == scan }) else { return }
        let from = self.lostAt[index].at
        self.lostAt.remove(at: index)
        let used = self.backoff.spans.filter { ($0.to ?? .max) > from }.map(\.row)
        let row = (0..<12).first { !used.contains($0) } ?? 11
        let waited = "waited \(HTMLText.time(at - from)) before reconnecting, \(self.noun.one) \(scan.raw)"
        self.backoff.spans.append(Span(from: from, to: at, row: row, state: .wait, text: waited))
    }

    // MARK: Drawing

    var html: String {
        let lanes = [
            self.app, self.scans, self.link, self.streams, self.ids, self.backoff, self.faults,
        ]
        return "<div class=\"lanes\">" + lanes.map { self.html($0) }.joined() + self.ruler + "</div>\n"
    }

    private var ruler: String {
        "<div class=\"lane\"><span></span><svg width=\"100%\" height=\"18\" aria-hidden=\"true\">"
            + self.axis.marks(height: 0, labels: true) + "</svg></div>"
    }

    private func html(_ lane: Lane) -> String {
        let rows = min(lane.rows, 12)
        let each = rows > 2 ? 6 : 9
        let height = rows * (each + 2) + 5
        var shapes = "<line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"\(height)\" y2=\"\(height)\"/>"
        for span in lane.spans.prefix(Self.elementsMax) {
            let to = span.to ?? self.axis.end
            let share = HTMLText.share(Double(max(to - span.from, 0)), of: Double(self.axis.end))
            shapes +=
                "<rect class=\"\(span.state.rawValue)\" x=\"\(self.axis.position(span.from))\" width=\"\(share)\" "
            shapes +=
                "y=\"\(2 + span.row * (each + 2))\" height=\"\(each)\"><title>\(HTMLText.escaped(span.text)), "
            shapes += "\(HTMLText.clock(span.from)) to \(HTMLText.clock(to))</title></rect>"
        }
        for mark in lane.marks.prefix(Self.elementsMax) {
            let shape =
                switch mark.tone {
                case .bad: "M-3 -4L3 4M3 -4L-3 4"
                case .warn: "M0 -5V5"
                case .good, .plain, .unknown, .running: "M0 -4L4 0L0 4L-4 0z"
                }
            shapes += "<svg x=\"\(self.axis.position(mark.at))\" y=\"\(height / 2)\" overflow=\"visible\">"
            shapes += "<path class=\"mark \(mark.tone.rawValue)\" d=\"\(shape)\"><title>"
            shapes += "\(HTMLText.clock(mark.at)) \(HTMLText.escaped(mark.text))</title></path></svg>"
        }
        let label = "\(lane.name): \(lane.spans.count) spans, \(lane.marks.count) marks"
        return
            "<div class=\"lane\"><span>\(lane.name)</span><svg width=\"100%\" height=\"\(height + 1)\" role=\"img\" "
            + "aria-label=\"\(label)\">\(shapes)</svg></div>"
    }
}
