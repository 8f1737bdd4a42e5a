import SimBase
import Talaria

/// The progress of a phone in the log of one job, and the state of the server's present connection.
struct StreamAccount: Sendable {
    /// The effect of an event on the account.
    enum Step: Hashable, Sendable {
        case forward
        /// These positions were skipped, although the server had sent them or the phone had not requested
        /// them properly.
        case skipped(ClosedRange<Int>)
        /// The event is not after the last one.
        case backward(position: Int, last: Int)
        /// It was already applied.
        case again
        /// The backend never wrote an event of this id for the job.
        case unknown
    }

    private struct Written: Hashable, Sendable {
        var id: String
        var position: Int
    }

    /// The progress of the phone at a time.
    private struct Mark: Hashable, Sendable {
        var at: Instant
        var position: Int
    }

    /// A position beyond this is not a position: sums of them cannot overflow.
    private static let positionMax = 1 << 40
    private static let rememberedMax = 1_024
    private static let snapshotsMax = 1_024
    private static let marksMax = 10
    private static let markDistance = Interval.milliseconds(125)

    /// The server's own log, in the order of writing. Ids are opaque: only this gives the position of an
    /// event.
    private var log: [Written] = []
    /// The ids of events that gave the state of the job, and are not in a log.
    private var snapshots: Set<String> = []
    /// The index of the last found event in `log`; the next one is nearly always after it.
    private var found = 0
    /// Nil before the first event.
    private(set) var lastPosition: Int?
    private(set) var lastID: String?
    /// The id of a ping or an ignored event after the last applied one: a standard client remembers it as
    /// well.
    private var lastIgnoredID: String?
    /// The process was started again: what it remembers is as old as its last durable write.
    private var isForgetful = false
    /// The position to resume from that was durable when the process was killed; empty: the start. Nil if it
    /// was not observed.
    private var keptID: String?
    /// The job is followed by WebSocket, which resumes after no id: its client gets the state of the job.
    var isSocket = false
    /// A WebSocket was opened: what was sent before it is not sent again.
    private var beginsAnew = false
    /// The last GET requested exactly what it should.
    private(set) var askedExactly = true
    /// The server continued elsewhere than it was asked to: what it says again is not the phone's doing.
    private var mayRepeat = false
    private var opened: (attempt: UInt32, after: Int?)?
    /// The positions that the server wrote on the present connection.
    private var offered = NumberRanges<Int>()
    /// Indexes in `log` of the events that the present process has applied since it took the job up.
    private var applied = NumberRanges<Int>()
    /// A fault has changed the data of some event: the same id need not be the same event.
    var isChanged = false
    /// A fault has written an event that cannot be read.
    var isGarbled = false
    /// The progress of the process over the last second and more, for checking its records.
    private var marks: [Mark] = []
    /// The id of the applied terminal event.
    private var terminalID: String?
    /// Events were passed over that the server did not offer: the job's books must come whole, inline or fetched.
    private(set) var owesResults = false

    // MARK: The backend's side

    mutating func written(id: String, position: Int) {
        guard (0...Self.positionMax).contains(position) else { return }
        _ = self.offered.insert(position)
        // A replay keeps its ids, as a rule.
        if let last = self.log.last, last.position >= position,
            self.log.contains(Written(id: id, position: position))
        {
            return
        }
        self.log.append(Written(id: id, position: position))
    }

    mutating func writtenBesideLog(id: String) {
        if self.snapshots.count < Self.snapshotsMax { self.snapshots.insert(id) }
    }

    mutating func openedByServer(attempt: UInt32, after: Int?) {
        self.opened = (attempt, after)
        self.offered = NumberRanges<Int>()
    }

    mutating func forgetLog() {
        self.log = []
        self.applied = NumberRanges<Int>()
        self.marks = []
        self.offered = NumberRanges<Int>()
    }

    // MARK: The phone's side

    /// The process was killed, and its storage holds this position to resume from.
    mutating func kept(lastID: String?) { self.keptID = lastID ?? "" }

    mutating func relaunched() {
        self.isForgetful = true
        self.laidAside()
        self.terminalID = nil
        self.marks = []
    }

    /// The phone keeps the job's record and nothing else: it does not know any more what it has applied.
    mutating func laidAside() { self.applied = NumberRanges<Int>() }

    /// Returns the complaint about the resume position in the storage when the process is killed. `isWritten`
    /// returns whether data received at a time had to be durable.
    func complaint(keeping lastID: String?, isWritten: (Instant) -> Bool) -> String? {
        guard !self.isSocket else { return nil }
        let kept = lastID ?? ""
        if kept != "", kept == self.terminalID, self.log.count(where: { $0.id == kept }) == 1 {
            return "the record after a kill resumes after \(kept.bounded), the job's terminal event"
        }
        // Where the server says again what it said before, the last event need not be the furthest.
        guard !self.mayRepeat, let due = self.marks.last(where: { isWritten($0.at) }) else { return nil }
        if kept == "" {
            return "the record after a kill resumes from the start, but \(due.position) was applied"
        }
        guard let position = self.position(ofKnown: kept), position < due.position else { return nil }
        return
            "the record after a kill resumes after position \(position), but \(due.position) was applied"
    }

    /// A GET is sent. Returns what is wrong with it; nil if it requests what follows the last applied event.
    mutating func asked(after id: String?, isInherited: Bool) -> String? {
        guard !self.isSocket else { return nil }
        let id = id == "" ? nil : id
        if isInherited, self.lastID == nil {
            self.lastID = id
            return nil
        }
        if self.isForgetful {
            self.isForgetful = false
            let kept = self.keptID
            self.keptID = nil
            if let id, id == kept, self.position(ofKnown: id) == nil {
                // The id of a ping, or of an event that was ignored.
                self.askedExactly = true
                self.lastIgnoredID = id
                return nil
            }
            return self.older(id, than: kept) ?? self.rewind(to: id)
        }
        // An empty id takes the last one back (WHATWG HTML 9.2.6).
        let last = self.lastID == "" ? nil : self.lastID
        self.askedExactly = id == last || (id ?? "") == self.lastIgnoredID
        if self.askedExactly { return nil }
        let right = last.map { "the last applied event is \($0.bounded)" } ?? "nothing was applied yet"
        let asked = id.map { "resumed after \($0.bounded)" } ?? "requested without Last-Event-ID"
        return "\(asked); \(right)"
    }

    /// Checks a request after a relaunch: durable data must not be forgotten.
    private mutating func older(_ id: String?, than kept: String?) -> String? {
        guard let kept, kept != "", id != kept else { return nil }
        self.askedExactly = false
        if let id, let position = self.position(ofKnown: id), let bound = self.position(ofKnown: kept),
            position >= bound
        {
            self.askedExactly = true
            return nil
        }
        let asked = id.map { "after a relaunch, resumed after \($0.bounded)" }
        return "\(asked ?? "after a relaunch, requested without Last-Event-ID"); \(kept.bounded) was durable"
    }

    private func position(ofKnown id: String) -> Int? { self.log.last { $0.id == id }?.position }

    /// Moves back after a relaunch: an older id, or none, is as good as the last.
    private mutating func rewind(to id: String?) -> String? {
        self.askedExactly = true
        guard let id else {
            self.lastID = nil
            self.lastPosition = nil
            return nil
        }
        if id == self.lastID || id == self.lastIgnoredID || self.snapshots.contains(id) { return nil }
        // Without a view of the log, its position is not known.
        guard let last = self.lastPosition else {
            self.lastID = id
            return nil
        }
        guard let position = self.position(of: id), position <= last else {
            self.askedExactly = false
            return "after a relaunch, resumed after \(id.bounded), which was never applied"
        }
        self.lastID = id
        self.lastPosition = position
        return nil
    }

    /// The phone has read the 200.
    mutating func openedByPhone(attempt: UInt32) {
        self.beginsAnew = self.isSocket
        guard let opened = self.opened, opened.attempt == attempt else { return }
        self.mayRepeat = self.askedExactly && opened.after != self.lastPosition
    }

    mutating func pinged(id: String) { self.lastIgnoredID = id }

    /// `endsAgain`: a terminal event for a phone that was started again. A finished job says it once more to whoever asks
    /// for what follows it.
    mutating func applied(id: String, isTerminal: Bool, endsAgain: Bool, at: Instant) -> Step {
        self.lastIgnoredID = nil
        self.lastID = id
        guard !self.snapshots.contains(id) else { return .forward }
        let step = self.step(to: id)
        let isNew = self.recordApplied(id)
        // A terminal event is not written down before what it leads to is.
        if isTerminal { self.terminalID = id } else { self.mark(at) }
        if endsAgain, case .backward(let position, let last) = step, position == last { return .forward }
        guard !isNew, case .forward = step else { return step }
        return .again
    }

    /// Records that an event was applied. Returns whether it was not applied before, or may not have been.
    private mutating func recordApplied(_ id: String) -> Bool {
        // A phone remembers a limited number of events (decision 0116).
        guard !self.isChanged, self.log.count <= Self.rememberedMax else { return true }
        if self.found < self.log.count, self.log[self.found].id == id {
            if self.applied.insert(self.found) { return true }
        }
        var isKnown = false
        // Several events may have one id.
        for index in self.log.indices where self.log[index].id == id {
            if self.applied.insert(index) { return true }
            isKnown = true
        }
        return !isKnown
    }

    private mutating func mark(_ at: Instant) {
        guard let position = self.lastPosition else { return }
        if let last = self.marks.last, at - last.at < Self.markDistance { return }
        self.marks.append(Mark(at: at, position: position), max: Self.marksMax)
    }

    /// The event changed nothing, but it was not missed either.
    mutating func ignored(id: String) {
        self.lastIgnoredID = id
        guard let position = self.position(of: id), position > self.lastPosition ?? -1 else { return }
        _ = self.step(to: id)
    }

    private mutating func step(to id: String) -> Step {
        guard let position = self.position(of: id) else { return .unknown }
        guard let last = self.lastPosition else {
            self.lastPosition = position
            return .forward
        }
        guard position > last else {
            return self.mayRepeat ? .forward : .backward(position: position, last: last)
        }
        self.lastPosition = position
        let beginsAnew = self.beginsAnew
        self.beginsAnew = false
        guard position > last + 1 else { return .forward }
        let skipped = (last + 1)...(position - 1)
        // A message that cannot be read has no id by which it is known to have come.
        let isUnreadable = self.isSocket && self.isGarbled
        if isUnreadable || beginsAnew || self.askedExactly && !self.offered.intersects(skipped) {
            self.owesResults = true
            return .forward
        }
        return .skipped(skipped)
    }

    /// Returns the position of an id. If several events have the same id, as those of the live backend may,
    /// it is that of the next one.
    private mutating func position(of id: String) -> Int? {
        let behind = self.log.indices.dropFirst(self.found)
        let after = self.lastPosition ?? -1
        if let index = behind.first(where: { self.log[$0].id == id && self.log[$0].position > after }) {
            self.found = index
            return self.log[index].position
        }
        if let index = self.log.firstIndex(where: { $0.id == id && $0.position > after }) {
            self.found = index
            return self.log[index].position
        }
        return self.log.last(where: { $0.id == id })?.position
    }
}
