import CSV
import JSON
import OriginServer
import SimBase
import Talaria
import Wire

// What the contract leaves open, and a client may stumble over: notes in the report, which break no rule.

extension TargetTrial {
    /// - Parameter excerpt: What the target sent, bounded here.
    mutating func note(
        _ note: TargetNote, _ request: TrialRequest, _ id: UInt64, at now: Instant, _ seen: String,
        excerpt: String? = nil
    ) {
        guard self.exchanges.update(id, { $0.notes(note) }) ?? true else { return }
        self.find(
            ContractFinding(
                operation: request.operation, part: Self.findingPart, path: note.path,
                expected: note.statement, seen: seen, excerpt: excerpt?.bounded, isDecisive: false, count: 1),
            request, at: now)
    }

    // MARK: Streams

    /// Shares are limited to it, so that any of them is a whole number of millionths.
    private static let shareMax = 1e9
    /// A job for which one event is enough.
    private static let shortJob = Interval.seconds(1)

    mutating func noteProgress(
        _ event: SSEEvent, _ kind: EventKind?, _ node: JSONNode?, _ id: UInt64, at now: Instant
    ) {
        guard let exchange = self.exchanges[id], !event.isInitial else { return }
        if kind == .progress, exchange.request.journey.version.isJudgedInDetail, node?["message"] == nil {
            self.note(.noMessage, exchange.request, id, at: now, "missing")
        }
        guard let share = node?["progress"]?.decimal else { return }
        let progress = Int(min(max(share, -Self.shareMax), Self.shareMax) * 1_000_000)
        self.exchanges.update(id) { $0.stream?.progress = progress }
        guard let last = exchange.stream?.progress, progress < last, kind?.isTerminal != true else { return }
        self.note(
            .fallingProgress, exchange.request, id, at: now, "less than before",
            excerpt: "\(Self.percent(last)), then \(Self.percent(progress))")
    }

    private static func percent(_ millionths: Int) -> String {
        "\(millionths / 10_000).\(abs(millionths) / 1_000 % 10) %"
    }

    /// An event without a name or JSON, such as the word "heartbeat".
    mutating func notePlain(_ event: SSEEvent, _ request: TrialRequest, _ id: UInt64, at now: Instant) {
        self.note(.plainData, request, id, at: now, "data without a name", excerpt: event.data)
    }

    /// Half as long again as the interval of pings and heartbeats (Docs/contract.md sections 2.5 and 3.3).
    private static let silenceMax = Interval.seconds(45)

    /// Bytes have come, or the stream is over.
    mutating func noteSilence(_ id: UInt64, at now: Instant) {
        guard let exchange = self.exchanges[id], let stream = exchange.stream, stream.socket == nil else {
            return
        }
        self.exchanges.update(id) { $0.stream?.heard = now }
        guard now - stream.heard > Self.silenceMax, self.isReadAtOnce(exchange.request) else { return }
        self.note(
            .silence, exchange.request, id, at: now,
            "nothing for longer than \(milliseconds: Self.silenceMax) ms")
    }

    /// The terminal event of a stream that was not resumed.
    mutating func noteLength(_ request: TrialRequest, _ id: UInt64, at now: Instant) {
        guard request.journey.version.isJudgedInDetail, request.lastEventID == nil,
            let exchange = self.exchanges[id], let stream = exchange.stream, stream.terminals == 1,
            stream.shown.count == 1, now - stream.opened >= Self.shortJob
        else { return }
        self.note(.noProgress, request, id, at: now, "none")
    }

    /// The trial ends a stream of its own whose job is over.
    mutating func noteOpen(_ id: UInt64, at now: Instant) {
        guard let exchange = self.exchanges[id], [.witness, .unknownID].contains(exchange.request.probe),
            exchange.stream?.socket == nil, exchange.head?.status == 200, let job = exchange.request.job,
            let known = self.jobs[job], known.end != nil || !known.isThere
        else { return }
        self.note(.openAfterEnd, exchange.request, id, at: now, "still open")
    }

    /// The connection of a stream of the trial's own has ended by itself.
    mutating func noteCut(_ exchange: TrialExchange, _ id: UInt64, at now: Instant) {
        guard [.witness, .unknownID].contains(exchange.request.probe), let stream = exchange.stream,
            stream.socket == nil,
            stream.terminals > 0
        else { return }
        self.note(.cutAfterEnd, exchange.request, id, at: now, "the end of the connection")
    }

    // MARK: Books

    /// `node`: the data of a completed event.
    mutating func noteCount(
        _ books: TrialBooks, _ node: JSONNode?, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        let summary = node?["summary"]
        guard let counted = (summary?["totalDetected"] ?? summary?["booksDetected"])?.integer(Int.self),
            counted < books.count, let twice = books.repeatedTitle
        else { return }
        self.note(.repeatedBook, request, id, at: now, "a book twice", excerpt: twice)
    }

    /// A photo whose upload was repeated has two jobs, if the target does not recognize it.
    mutating func noteTwin(
        _ books: TrialBooks, of job: TrialJob, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard let other = job.twin.flatMap({ self.jobs[$0] }), let before = other.inline ?? other.results,
            let difference = books.difference(from: before)
        else { return }
        self.note(.otherBooks, request, id, at: now, "others", excerpt: difference)
    }

    /// So few books can be the same on two shelves.
    private static let fewBooks = 2

    mutating func notePhotos(
        _ books: TrialBooks, of job: TrialJob, _ request: TrialRequest, _ id: UInt64, at now: Instant
    ) {
        guard self.rules.isOfOwnPhones, request.journey.hasPhotos, books.count > Self.fewBooks,
            self.jobs.repeats(books.digest, ofAnotherPhotoThan: job)
        else { return }
        self.note(.sameBooks, request, id, at: now, "the same", excerpt: "\(books.count) books")
    }

    mutating func noteISBNs(_ books: TrialBooks, _ request: TrialRequest, _ id: UInt64, at now: Instant) {
        guard let wrong = books.isbns.first(where: { Self.hasDigits($0) && ISBN($0) == nil }) else { return }
        self.note(.wrongISBN, request, id, at: now, "one with another digit", excerpt: wrong)
    }

    /// The readers of answers report an ISBN of another form.
    private static func hasDigits(_ isbn: String) -> Bool {
        [10, 13].contains(isbn.utf8.count)
            && isbn.utf8.dropLast().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    // MARK: Heads and links

    /// No limit is for longer than this.
    private static let secondsAheadMax: Int64 = 366 * 86_400

    mutating func noteReset(_ head: TrialHead, _ request: TrialRequest, _ id: UInt64, at now: Instant) {
        guard let text = head.limitReset, let reset = Int64(text) else { return }
        let seconds = (self.rules.wallClockAtZero + now.milliseconds) / 1_000
        // `reset` can be Int64.min, so nothing is subtracted from it.
        guard reset > seconds + Self.secondsAheadMax else { return }
        self.note(.resetTime, request, id, at: now, "a time more than a year ahead", excerpt: text)
    }

    private static let links = ["sseUrl", "streamUrl", "statusUrl"]
    /// Has a path of its own, whatever the contract says (Docs/contract.md section 3.4).
    private static let socketLink = "websocketUrl"

    /// `node`: the body of a 202. A link may be relative.
    mutating func noteLinks(_ node: JSONNode?, _ request: TrialRequest, _ id: UInt64, at now: Instant) {
        let data = node?["data"] ?? node
        self.notePaths(data, request, id, at: now)
        guard let asked = self.rules.host.flatMap({ HostName($0) }) else { return }
        for name in Self.links + [Self.socketLink] {
            guard let host = data?[name]?.text.flatMap({ Self.host(of: $0) }), host != asked,
                !(host.isLoopback && asked.isLoopback)
            else { continue }
            return self.note(.otherHost, request, id, at: now, "another one in \(name)", excerpt: host.name)
        }
    }

    /// A link may have any path; one that no contract has is probably misspelled.
    private mutating func notePaths(_ node: JSONNode?, _ request: TrialRequest, _ id: UInt64, at now: Instant)
    {
        for name in Self.links {
            guard let link = node?[name]?.text, let path = Self.path(of: link),
                JourneyPath(path: path)?.endpoint.jobID == nil
            else { continue }
            return self.note(.unknownLink, request, id, at: now, "another one in \(name)", excerpt: link)
        }
    }

    /// Nil where there is none.
    private static func path(of link: String) -> String? {
        let whole = link.prefix { $0 != "?" && $0 != "#" }
        guard self.host(of: link) != nil else { return whole.hasPrefix("/") ? String(whole) : nil }
        return whole.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).dropFirst(3).first
            .map { "/" + $0 }
    }

    /// A phone that is in the background reads later.
    private func isReadAtOnce(_ request: TrialRequest) -> Bool {
        self.rules.readsAtOnce || request.probe != nil
    }

    /// An upload takes the time of its photo.
    mutating func noteTime(_ exchange: TrialExchange, _ id: UInt64, at now: Instant) {
        guard exchange.request.operation != .upload, now - exchange.sent > TargetNote.answerTimeMax,
            self.isReadAtOnce(exchange.request)
        else { return }
        self.note(.slowAnswer, exchange.request, id, at: now, "later")
    }

    mutating func noteExcess(_ exchange: TrialExchange, _ id: UInt64, at now: Instant) {
        self.note(.excessBytes, exchange.request, id, at: now, "more bytes")
    }

    private static func host(of link: String) -> HostName? {
        let parts = link.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].hasSuffix(":"), parts[1].isEmpty else { return nil }
        return HostName(parts[2])
    }
}
