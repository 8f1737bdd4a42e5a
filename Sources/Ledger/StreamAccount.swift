import SimBase
import Talaria

/// How far a phone has come in the log of one job, and where the server's present connection stands.
struct StreamAccount: Sendable {
    /// What an event did to the account.
    enum Step: Hashable, Sendable {
        case forward
        /// These positions were passed over, and the server had offered them or the phone had not asked properly.
        case skipped(ClosedRange<Int>)
        /// The event is not after the last one.
        case backward(position: Int, last: Int)
        /// The backend never wrote an event of this id for the job.
        case unknown
    }

    private struct Written: Hashable, Sendable {
        var id: String
        var position: Int
    }

    /// A position beyond this is no position: sums of them cannot overflow.
    private static let positionMax = 1 << 40

    /// The server's own log, in the order of writing. Ids are opaque: only this tells where an event stands.
    private var log: [Written] = []
    /// Where in `log` the last event was found; the next one is nearly always behind it.
    private var found = 0
    /// Nil before the first event.
    private(set) var lastPosition: Int?
    private(set) var lastID: String?
    /// Of a ping, or of an event that was ignored, after the last applied one: a reader by the standard remembers it as
    /// well.
    private var lastIgnoredID: String?
    /// The process was started again: what it remembers is as old as its last durable write.
    private var isForgetful = false
    /// The place to resume from that was durable when the process was killed; empty: the start. Nil where nobody saw it.
    private var keptID: String?
    /// The last GET asked for exactly what it should.
    private(set) var askedExactly = true
    /// The server went on elsewhere than it was asked to: what it says again is not the phone's doing.
    private var mayRepeat = false
    private var opened: (attempt: UInt32, after: Int?)?
    /// What the server wrote since it opened its present connection.
    private var offered = NumberRanges<Int>()
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

    mutating func openedByServer(attempt: UInt32, after: Int?) {
        self.opened = (attempt, after)
        self.offered = NumberRanges<Int>()
    }

    mutating func forgetLog() {
        self.log = []
        self.offered = NumberRanges<Int>()
    }

    // MARK: The phone's side

    /// The process was killed, and its storage holds this place to resume from.
    mutating func kept(lastID: String?) { self.keptID = lastID ?? "" }

    mutating func relaunched() { self.isForgetful = true }

    /// A GET goes out. Nil when it asks for what follows the last applied event; otherwise what is wrong.
    mutating func asked(after id: String?, isInherited: Bool) -> String? {
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
                // Of a ping, or of an event that was ignored.
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
        let right = last.map { "the last applied is \($0.bounded)" } ?? "nothing was applied yet"
        let asked = id.map { "asked for what follows \($0.bounded)" } ?? "asked without Last-Event-ID"
        return "\(asked); \(right)"
    }

    /// After a relaunch: what was durable is not forgotten.
    private mutating func older(_ id: String?, than kept: String?) -> String? {
        guard let kept, kept != "", id != kept else { return nil }
        self.askedExactly = false
        if let id, let position = self.position(ofKnown: id), let bound = self.position(ofKnown: kept),
            position >= bound
        {
            self.askedExactly = true
            return nil
        }
        let asked = id.map { "asked, after a relaunch, for what follows \($0.bounded)" }
        return "\(asked ?? "asked, after a relaunch, without Last-Event-ID"); \(kept.bounded) was durable"
    }

    private func position(ofKnown id: String) -> Int? { self.log.last { $0.id == id }?.position }

    /// After a relaunch an older id, or none, is as good as the last.
    private mutating func rewind(to id: String?) -> String? {
        self.askedExactly = true
        guard let id else {
            self.lastID = nil
            self.lastPosition = nil
            return nil
        }
        if id == self.lastID || id == self.lastIgnoredID { return nil }
        // Without a view of the log nobody can tell.
        guard let last = self.lastPosition else {
            self.lastID = id
            return nil
        }
        guard let position = self.position(of: id), position <= last else {
            self.askedExactly = false
            return "asked, after a relaunch, for what follows \(id.bounded), which was never applied"
        }
        self.lastID = id
        self.lastPosition = position
        return nil
    }

    /// The phone has read the 200.
    mutating func openedByPhone(attempt: UInt32) {
        guard let opened = self.opened, opened.attempt == attempt else { return }
        self.mayRepeat = self.askedExactly && opened.after != self.lastPosition
    }

    mutating func pinged(id: String) { self.lastIgnoredID = id }

    /// `endsAgain`: a terminal event for a phone that was started again. A finished job says it once more to whoever asks
    /// for what follows it.
    mutating func applied(id: String, endsAgain: Bool) -> Step {
        self.lastIgnoredID = nil
        self.lastID = id
        let step = self.step(to: id)
        if endsAgain, case .backward(let position, let last) = step, position == last { return .forward }
        return step
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
        guard position > last + 1 else { return .forward }
        let skipped = (last + 1)...(position - 1)
        if self.askedExactly, !self.offered.intersects(skipped) {
            self.owesResults = true
            return .forward
        }
        return .skipped(skipped)
    }

    /// Of several events with one id (the live backend does that) the next one is meant.
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
