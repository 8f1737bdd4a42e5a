internal import Faults
package import OriginServer
package import SimBase
internal import Talaria
internal import Wire

/// Replays a recording: the n-th upload of a journey gets the n-th recorded response to one, and each later request
/// for its job gets the recorded responses to the same request, one after the other. Nothing is checked: no token, no
/// limit, no `Last-Event-ID`. After the last upload of a journey, its uploads start again with other job ids.
package struct RecordingPlayer: Sendable {
    struct Playing: Sendable {
        let answer: Recording.Answer
        /// The recorded text and its replacement.
        let renaming: (recorded: [UInt8], played: [UInt8])?
        let began: Instant
        /// Set where the answer opens a WebSocket.
        let handshake: WebSocketRequest?
        var next = 0
        /// The server's end of a WebSocket.
        var connection: WebSocketConnection?

        func renamed(_ head: UpstreamHead) -> UpstreamHead {
            guard self.renaming != nil else { return head }
            var head = head
            head.headers = head.headers.map {
                HeaderField($0.name, String(decoding: self.renamed(Array($0.value.utf8)), as: UTF8.self))
            }
            return head
        }

        func renamed(_ bytes: [UInt8]) -> [UInt8] {
            guard let (recorded, played) = self.renaming else { return bytes }
            return bytes.replacing(recorded, with: played)
        }
    }

    /// An upload whose body is being read.
    private struct PendingUpload: Sendable {
        let journey: Journey
        let caller: Caller
    }

    struct ReplayedJob: Sendable {
        let recorded: String
        let journey: Journey
        let owner: Caller
        let accepted: Instant
        /// The number of requests of each kind.
        var asked: [Recording.Question: Int] = [:]
    }

    private let recording: Recording
    private let wallClockAtZero: Int64
    private(set) var now = Instant.zero
    private var uploadsPlayed: [Journey: Int] = [:]
    private var reading = SlotMap<ExchangeID, PendingUpload>()
    var playing = SlotMap<ExchangeID, Playing>()
    private(set) var jobs = SlotMap<String, ReplayedJob>()
    /// Jobs that are remembered. Those of v2 are not cleaned up: beyond this number, the older half is
    /// forgotten.
    var jobsMax = 50_000
    private var deadlines = EventHeap<ExchangeID>()

    package init(_ recording: Recording, wallClockAtZero: Int64) {
        self.recording = recording
        self.wallClockAtZero = wallClockAtZero
    }

    package var nextWake: Instant? { self.deadlines.nextAt }

    /// Handles an event.
    ///
    /// - Returns: `nextWake`.
    @discardableResult package mutating func handle(
        _ event: OriginEvent, at moment: Instant, into effects: inout [OriginEffect]
    ) -> Instant? {
        self.now = max(self.now, moment)
        switch event {
        case .requested(let id, let request, let caller, connection: _, faults: _):
            self.requested(id, request, caller, into: &effects)
        case .uploaded(let id, _), .uploadFailed(let id, _):
            guard let upload = self.reading[id] else { break }
            self.reading[id] = nil
            self.playUpload(id, upload)
        case .aborted(let id):
            self.reading[id] = nil
            self.playing[id] = nil
        case .forwarded, .upstreamReplied, .upstreamReceived, .upstreamEnded: break  // There is no upstream.
        case .received(let id, let bytes): self.received(id, bytes, into: &effects)
        case .changed, .woke: break  // What was recorded stays.
        }
        while let due = self.deadlines.popDue(at: self.now) { self.step(due.element, into: &effects) }
        return self.deadlines.nextAt
    }

    // MARK: Questions

    private mutating func requested(
        _ id: ExchangeID, _ request: OriginRequest, _ caller: Caller,
        into effects: inout [OriginEffect]
    ) {
        guard let path = JourneyPath(path: request.path, query: request.query),
            let operation = path.operation(method: request.method)
        else { return self.refuse(id, request, "The recording has no such path.", into: &effects) }
        guard let jobID = path.endpoint.jobID else {
            guard self.recording.uploads[path.journey] != nil else {
                return self.refuse(
                    id, request, "The recording has no upload of this journey.", into: &effects)
            }
            self.reading[id] = PendingUpload(journey: path.journey, caller: caller)
            effects.append(.readUpload(id))
            return
        }
        guard var job = self.jobs[jobID], job.journey == path.journey else {
            return self.refuse(id, request, "The recording has no such job.", into: &effects)
        }
        if path.isSocket, let refusal = Self.refusal(ofSocket: request) {
            return self.reply(id, request, refusal, into: &effects)
        }
        let question = Recording.Question(
            operation: operation, journey: job.journey, jobID: job.recorded, isSocket: path.isSocket)
        let count = job.asked[question, default: 0]
        job.asked[question] = count + 1
        let answers = self.recording.others[question] ?? []
        // Once it is cleaned up as often as was recorded, it must not be requested.
        self.jobs[jobID] = operation == .cleanup && count + 1 >= answers.count ? nil : job
        if let answer = count < answers.count ? answers[count] : Self.again(operation, answers) {
            let handshake = answer.isSocket ? try? request.handshake?.get() : nil
            self.play(answer, id, handshake, recorded: job.recorded, played: jobID)
        } else if operation == .cleanup {
            // The client of the recording did not get that far; nothing is kept here, so all is cleaned up.
            effects.append(.reply(id, self.cleaned(jobID, job.journey)))
        } else {
            self.refuse(id, request, "The recording has no more answers to this.", into: &effects)
        }
    }

    /// Returns the response to a repeated request. A stream is replayed once; other responses can be
    /// repeated.
    private static func again(_ operation: Operation, _ answers: [Recording.Answer]) -> Recording.Answer? {
        operation == .stream ? nil : answers.last
    }

    /// The answer to a cleanup that the recording does not have.
    private func cleaned(_ jobID: String, _ journey: Journey) -> OriginReply {
        guard journey.version.envelopesBodies else { return OriginReply(status: 204, headers: [], body: []) }
        return OriginReply(
            status: 200, headers: [HeaderField("Content-Type", "application/json")],
            body: V2Envelope.canceled(job: jobID, timestamp: self.wall))
    }

    private func refuse(
        _ id: ExchangeID, _ request: OriginRequest, _ text: String, into effects: inout [OriginEffect]
    ) {
        self.reply(id, request, Refusal(.notFound, text), into: &effects)
    }

    func reply(
        _ id: ExchangeID, _ request: OriginRequest, _ refusal: Refusal, into effects: inout [OriginEffect]
    ) {
        let metadata = Metadata(
            timestamp: Timestamp.iso8601(unixMilliseconds: self.wall), requestId: "replay-\(id.raw)")
        let reply = refusal.reply(
            metadata: metadata, instance: nil, APIVersion(path: request.path))
        effects.append(.reply(id, reply))
    }

    /// Milliseconds since 1970.
    private var wall: Int64 { self.wallClockAtZero + (self.now - Instant.zero).wholeMilliseconds }

    private mutating func playUpload(_ id: ExchangeID, _ upload: PendingUpload) {
        guard let uploads = self.recording.uploads[upload.journey] else { return }
        let played = self.uploadsPlayed[upload.journey, default: 0]
        let (round, index) = played.quotientAndRemainder(dividingBy: uploads.count)
        self.uploadsPlayed[upload.journey] = played + 1
        let answer = uploads[index]
        guard let recorded = answer.jobID else {
            return self.play(answer, id, nil, recorded: nil, played: nil)
        }
        let job = Self.jobID(recorded, round: round)
        self.jobs[job] = ReplayedJob(
            recorded: recorded, journey: upload.journey, owner: upload.caller, accepted: self.now)
        self.forgetOldJobs()
        self.play(answer, id, nil, recorded: recorded, played: job)
    }

    private mutating func forgetOldJobs() {
        guard self.jobs.count > self.jobsMax else { return }
        let oldestFirst = self.jobs.entries.sorted { $0.1.accepted < $1.1.accepted }
        for (id, _) in oldestFirst.prefix((self.jobsMax + 1) / 2) { self.jobs[id] = nil }
    }

    /// The recorded id in the first round, and later one of the same length, so that every length stays true.
    static func jobID(_ recorded: String, round: Int) -> String {
        guard round > 0 else { return recorded }
        let count = min(recorded.utf8.count, 8)
        let mask: UInt64 = count == 8 ? 0xFFFF_FFFF : (1 << (4 * UInt64(count))) - 1
        let tail = String(recorded.suffix(count))
        let number = Hexadecimal.value(tail) ?? 0
        // Odd, so that no two rounds meet before all numbers are used up.
        let other = (number &+ UInt64(round) &* 0x9E37_79B1) & mask
        return recorded.dropLast(count) + Hexadecimal.text(other, digits: count)
    }

    // MARK: Playing

    mutating func play(
        _ answer: Recording.Answer, _ id: ExchangeID, _ handshake: WebSocketRequest?, recorded: String?,
        played: String?
    ) {
        var renaming: (recorded: [UInt8], played: [UInt8])?
        if let recorded, let played, recorded != played {
            renaming = (Array(recorded.utf8), Array(played.utf8))
        }
        let playing = Playing(
            answer: answer, renaming: renaming, began: self.now, handshake: handshake)
        self.playing[id] = playing
        self.arm(id, playing)
    }

    private mutating func arm(_ id: ExchangeID, _ playing: Playing) {
        guard playing.next < playing.answer.steps.count else { return }
        self.deadlines.insert(id, at: playing.began + playing.answer.steps[playing.next].after)
    }

    private mutating func step(_ id: ExchangeID, into effects: inout [OriginEffect]) {
        guard var playing = self.playing[id] else { return }
        let step = playing.answer.steps[playing.next]
        playing.next += 1
        self.playing[id] = playing
        guard playing.handshake == nil else {
            self.stepSocket(id, step.what, into: &effects)
            if self.playing[id] != nil { self.arm(id, playing) }
            return
        }
        switch step.what {
        case .head(let head): effects.append(.passHead(id, playing.renamed(head)))
        case .body(let bytes): effects.append(.passBody(id, playing.renamed(bytes)))
        case .end(.complete):
            self.playing[id] = nil
            effects.append(.passEnd(id))
        case .end(let end):
            // If the client left first, or the body is left out, nothing more is sent: the stream stays open
            // and silent.
            guard let cut = end.cut else { return }
            self.playing[id] = nil
            effects.append(.breakOff(id, cut))
        case .close: break  // Of a WebSocket alone.
        }
        self.arm(id, playing)
    }
}
