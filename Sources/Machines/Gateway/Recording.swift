import JSON
internal import OriginServer
internal import SimBase
internal import Talaria
internal import Wire

/// The reason why a file is not a recording that can be replayed.
package struct RecordingError: Error, Hashable, Sendable {
    /// From 1.
    package var line: Int
    package var text: String
}

/// A server's responses to its clients, with their times: read from a file, to be replayed.
package struct Recording: Sendable {
    /// One answer. Its times count from the time at which the request was complete.
    struct Answer: Hashable, Sendable {
        struct Step: Hashable, Sendable {
            enum What: Hashable, Sendable {
                case head(UpstreamHead)
                case body([UInt8])
                case close(WebSocketClose)
                case end(RecordedEnd)
            }
            var after: Interval
            var what: What
        }
        var steps: [Step] = []
        /// The job id of an accepted upload.
        var jobID: String?

        /// Whether it opened a WebSocket. Then its bodies are messages.
        var isSocket: Bool {
            if case .head(let head)? = self.steps.first?.what { head.status == 101 } else { false }
        }
    }

    /// The responses to the uploads of each journey, in the order of their completion.
    private(set) var uploads: [Journey: [Answer]] = [:]
    /// All other responses by request, in the same order.
    private(set) var others: [Question: [Answer]] = [:]

    /// A request about a job.
    struct Question: Hashable, Sendable {
        var operation: Operation
        var journey: Journey
        var jobID: String
        /// Whether it asks for the WebSocket of the job.
        var isSocket: Bool
    }

    /// Lines that could not be read: the end of a recording that was killed.
    package private(set) var linesSkipped = 0
    /// Requests of v2 that belong to no journey.
    package private(set) var requestsLeftOut = 0

    /// Reads the whole text of a recording. A last line that was cut off is skipped and counted; any other broken line
    /// is an error.
    package init(_ text: [UInt8]) throws(RecordingError) {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard let first = lines.first,
            let opening = JSONNode(Array(first)), let version = opening["recording"]?.integer,
            opening["by"]?.text != nil, opening["began"]?.text != nil
        else { throw RecordingError(line: 1, text: "not a recording: the header line is missing") }
        guard version == RecordingLine.version else {
            throw RecordingError(
                line: 1,
                text: "the recording has format version \(version), and this program reads "
                    + "\(RecordingLine.version)")
        }
        var tracks = SlotMap<UInt64, Track>()
        for (index, piece) in lines.enumerated().dropFirst() where !piece.isEmpty {
            guard let line = RecordingLine(piece) else {
                guard index == lines.count - 1 else {
                    throw RecordingError(line: index + 1, text: "not a line of a recording")
                }
                self.linesSkipped += 1
                continue
            }
            if case .request(let method, let path, _, _) = line.what {
                tracks[line.exchange] = Track(began: line.at, method: method, path: path)
                continue
            }
            let isKnown: Void? = tracks.update(line.exchange) { $0.add(line) }
            guard isKnown != nil else {
                throw RecordingError(
                    line: index + 1, text: "exchange \(line.exchange) has a response but no request")
            }
        }
        for track in tracks.values { self.add(track) }
        guard !self.uploads.isEmpty else {
            throw RecordingError(
                line: lines.count, text: "the recording has no upload, so it cannot be replayed")
        }
    }

    private mutating func add(_ track: Track) {
        guard let path = JourneyPath(target: track.path),
            let operation = path.operation(method: track.method)
        else {
            if APIVersion(path: Endpoint.path(ofTarget: track.path)) == .v2 { self.requestsLeftOut += 1 }
            return
        }
        // Nothing else switches to another protocol.
        guard path.isSocket || !track.answer.isSocket else { return }
        guard let jobID = path.endpoint.jobID else {
            self.uploads[path.journey, default: []].append(track.upload)
            return
        }
        let question = Question(
            operation: operation, journey: path.journey, jobID: jobID, isSocket: path.isSocket)
        self.others[question, default: []].append(track.answer)
    }
}

/// One request and its answer while they are read.
private struct Track: Sendable {
    let began: Instant
    let method: String
    let path: String
    var answer = Recording.Answer()

    mutating func add(_ line: RecordingLine) {
        let what: Recording.Answer.Step.What
        switch line.what {
        case .request: return
        case .head(let status, let headers, let length):
            what = .head(UpstreamHead(status: status, headers: headers, length: length))
        case .body(let bytes): what = .body(bytes)
        case .close(let close): what = .close(close)
        case .end(let end): what = .end(end)
        }
        let after = max(line.at - self.began, self.answer.steps.last?.after ?? .zero)
        self.answer.steps.append(.init(after: after, what: what))
    }

    /// The answer with the job that it names, and with links that hold wherever it is played.
    var upload: Recording.Answer {
        var answer = self.answer
        let whole = answer.steps.reduce(into: [UInt8]()) {
            if case .body(let piece) = $1.what { $0 += piece }
        }
        guard case .head(var head)? = answer.steps.first?.what, (200...299).contains(head.status),
            case .end(.complete)? = answer.steps.last?.what, var body = JSONObjectText(whole)
        else { return answer }
        let data = body.value("data").flatMap { JSONObjectText(Array($0)) }
        answer.jobID = (data?.text("jobId") ?? body.text("jobId")).flatMap { Endpoint.isJobID($0) ? $0 : nil }
        let links = UpstreamLinks(basePath: "", authority: nil, isSecure: false)
        guard body.changeStrings(under: UpstreamLinks.keys, { links.leadingBack($0) }) else { return answer }
        head.length = body.bytes.count
        let first = answer.steps[0].after
        let last = answer.steps[answer.steps.count - 1].after
        answer.steps = [
            .init(after: first, what: .head(head)), .init(after: last, what: .body(body.bytes)),
            .init(after: last, what: .end(.complete)),
        ]
        return answer
    }
}
