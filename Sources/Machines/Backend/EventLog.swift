internal import SimBase
internal import Talaria
internal import Wire

/// The events of a job, in order, encoded once: the buffer from which streams are replayed.
///
/// Ids are `{epoch milliseconds}-{event}`. By the contract, the milliseconds strictly increase within the job, ping ids and
/// the ids of fresh replays included. Other dialects take them from the clock only.
struct EventLog: Sendable {
    struct Entry: Hashable, Sendable {
        /// The position, from 0.
        let position: Int
        let kind: EventKind
        let form: EventForm
        let milliseconds: Int64
        let emitted: Instant
        /// The whole event: id, event, data, blank line.
        let bytes: [UInt8]

        init(
            position: Int, _ kind: EventKind, _ form: EventForm, _ milliseconds: Int64, emitted: Instant,
            data: [UInt8]
        ) {
            self.position = position
            self.kind = kind
            self.form = form
            self.milliseconds = milliseconds
            self.emitted = emitted
            self.bytes = form.bytes(milliseconds: milliseconds, data: data)
        }

        var id: String { self.form.id(self.milliseconds) }

        /// The data, which are one line, without the frame of the form.
        var data: [UInt8] { self.form.data(in: self.bytes, milliseconds: self.milliseconds) }

        /// This event with another id.
        func with(milliseconds: Int64) -> Entry {
            Entry(
                position: self.position, self.kind, self.form, milliseconds, emitted: self.emitted,
                data: self.data)
        }

        /// This event with other data.
        func with(data: [UInt8]) -> Entry {
            Entry(
                position: self.position, self.kind, self.form, self.milliseconds, emitted: self.emitted,
                data: data)
        }
    }

    /// The events at the beginning of a stream.
    struct Replay: Hashable, Sendable {
        /// The position that the client's id named; nil without an id, or with one that is not known (any more).
        let after: Int?
        let entries: [Entry]
    }

    /// An id that does not belong to an entry: of a fresh replay, or of an event that a fault made up.
    private struct Alias: Hashable, Sendable {
        let milliseconds: Int64
        let name: String
        /// A stream that continues after this id continues after this event.
        let position: Int
        let given: Instant
    }

    /// The time for which an entry can be replayed.
    private let buffer: Interval
    private let rules: Rules
    /// The last one is kept whatever its age: it is the job's current state.
    private var entries: [Entry] = []
    private var aliases: [Alias] = []
    /// The latest event, whatever happened to the buffer.
    private(set) var latest: Entry?
    /// Events ever appended.
    private(set) var count = 0
    /// The buffer is lost: from now on only a terminal event is kept.
    private(set) var isForgetful = false
    private var lastMilliseconds: Int64

    /// What a dialect says of ids and replays.
    struct Rules: Hashable, Sendable {
        /// No two events have the same milliseconds. Otherwise an id is a time, and later events follow it.
        var hasIncreasingIDs: Bool
        /// Entries that are kept at most.
        var entriesMax: Int?
    }

    /// `epoch`: no id is older than that, in milliseconds since 1970.
    init(buffer: Interval, epoch: Int64, _ rules: Rules) {
        self.buffer = buffer
        self.rules = rules
        self.lastMilliseconds = epoch - 1
    }

    var last: Entry? { self.entries.last }

    // MARK: Writing

    /// Milliseconds that no id of this job has yet: those of the wall clock, or the next free ones. Those of the wall clock in
    /// any case, where ids may repeat.
    mutating func mint(wall: Int64) -> Int64 {
        guard self.rules.hasIncreasingIDs else { return wall }
        self.lastMilliseconds = max(wall, self.lastMilliseconds + 1)
        return self.lastMilliseconds
    }

    /// `captured`: the milliseconds of its id, if they are those of a captured event.
    mutating func append(
        _ kind: EventKind, _ form: EventForm, data: [UInt8], wall: Int64, captured: Int64?, at now: Instant
    ) -> Entry {
        self.forget(at: now)
        let entry = Entry(
            position: self.count, kind, form, captured ?? self.mint(wall: wall), emitted: now, data: data)
        if !self.isForgetful || kind.isTerminal { self.entries.append(entry) }
        self.latest = entry
        if let most = self.rules.entriesMax, self.entries.count > most { self.entries.removeFirst() }
        self.count += 1
        return entry
    }

    /// Everything so far is lost, and what is still to come will not be kept.
    mutating func loseBuffer() {
        self.isForgetful = true
        self.entries = []
        self.aliases = []
    }

    /// The job is over and its buffer too: only the last event stays, with these data.
    mutating func settle(lastData: [UInt8]?) {
        guard let last = self.entries.last else { return }
        self.aliases = []
        self.entries = [lastData.map { last.with(data: $0) } ?? last]
        self.latest = self.entries.last
    }

    /// The milliseconds of a fresh id for an event of this name that is sent and not in the log; a stream
    /// that continues after it continues after `position`.
    mutating func alias(_ name: String, position: Int, wall: Int64, at now: Instant) -> Int64 {
        self.forget(at: now)
        let milliseconds = self.mint(wall: wall)
        if !self.isForgetful {
            self.aliases.append(
                Alias(milliseconds: milliseconds, name: name, position: position, given: now))
        }
        return milliseconds
    }

    private mutating func forget(at now: Instant) {
        let old = self.entries.prefix { $0.emitted + self.buffer <= now }.count
        if old > 0 { self.entries.removeFirst(min(old, self.entries.count - 1)) }
        let oldAliases = self.aliases.prefix { $0.given + self.buffer <= now }.count
        if oldAliases > 0 { self.aliases.removeFirst(oldAliases) }
    }

    // MARK: Reading

    /// Returns the beginning of a stream with this `Last-Event-ID`, or without one:
    ///
    /// - a known id: everything after it; if nothing comes after it and the job is over, the terminal event once more,
    ///   so that no client is left without an end;
    /// - an unknown id, or one that fell out of the buffer: what is left in the buffer; if nothing is left, the current
    ///   state;
    /// - no id: the current state, which is the last event.
    mutating func replay(after lastEventID: String?, at now: Instant) -> Replay {
        self.forget(at: now)
        guard let last = self.entries.last else { return Replay(after: nil, entries: []) }
        guard let lastEventID, !lastEventID.isEmpty else {
            return self.rules.hasIncreasingIDs
                ? Replay(after: nil, entries: [last]) : self.replayFromStart(at: now)
        }
        guard let resumePosition = self.resumePosition(of: lastEventID) else {
            return self.replayFromStart(at: now)
        }
        let rest = self.entries.filter { $0.position > resumePosition }
        return Replay(
            after: resumePosition < 0 ? nil : resumePosition,
            entries: rest.isEmpty && last.kind.isTerminal ? [last] : rest)
    }

    /// Returns all buffered events, whatever the client has seen; if there are none, the current state.
    mutating func replayFromStart(at now: Instant) -> Replay {
        self.forget(at: now)
        let left = self.entries.filter { $0.emitted + self.buffer > now }
        return Replay(after: nil, entries: left.isEmpty ? self.entries.suffix(1) : left)
    }

    /// The position of the event that has or had this id. A ping's id means the last event before it.
    private func resumePosition(of id: String) -> Int? {
        guard let dash = id.firstIndex(of: "-"), let milliseconds = Int64(id[..<dash]) else { return nil }
        guard self.rules.hasIncreasingIDs else {
            // Whatever event had it: what is not later counts as seen.
            return self.entries.last { $0.milliseconds <= milliseconds }?.position
        }
        let name = String(id[id.index(after: dash)...])
        guard id == EventForm.id(milliseconds, name) else { return nil }
        if name == EventKind.ping.rawValue {
            guard milliseconds <= self.lastMilliseconds else { return nil }
            return self.entries.last { $0.milliseconds < milliseconds }?.position
        }
        if let entry = self.entries.last(where: { $0.milliseconds == milliseconds }),
            entry.form.idSuffix == name
        {
            return entry.position
        }
        return self.aliases.last { $0.milliseconds == milliseconds && $0.name == name }?.position
    }
}
