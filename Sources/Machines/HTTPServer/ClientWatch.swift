package import ClientTrial
import Faults
import OriginServer
import SimBase
import Talaria
import Wire

/// The configuration of a trial of clients.
package struct ClientWatchConfiguration: Hashable, Sendable {
    package var rules: ClientTrialSettings
    /// Whether phones of this program are followed as well.
    package var followsOwnPhones: Bool
    /// What the clients are expected to break, for the status page.
    package var expectations: ClientExpectations

    package init(
        rules: ClientTrialSettings, followsOwnPhones: Bool, expectations: ClientExpectations
    ) {
        self.rules = rules
        self.followsOwnPhones = followsOwnPhones
        self.expectations = expectations
    }
}

/// Reads what passes on the connections of a server, in both directions, for a trial of its clients. It has readers of its own, so
/// that it sees the same with every kind of origin.
struct ClientWatch: Sendable {
    /// One request, and how far its answer has come.
    private struct Watched: Sendable {
        let id: UInt64
        let isBodiless: Bool
        var form: MultipartReader?
        var isForm: Bool
        var fault: String?
        var body: [UInt8] = []
        var stream: SSEBlockReader?
    }

    private struct Track: Sendable {
        var requests = RequestReader(limits: .standard)
        var responses = ResponseReader()
        /// The first is being answered.
        var exchanges: [Watched] = []
        /// The request whose body is being read.
        var reading: UInt64?
        /// It is a connection of a phone of this program, which is not followed.
        var isIgnored = false
    }

    /// A body above this is not read.
    private static let bodyBytesMax = 4 << 20
    private static let eventBytesMax = 3 << 19
    private static let connectionsMax = 20_000
    /// A photo may be larger than the contract allows.
    private static let form = MultipartReader.Limits(
        partsMax: 32, headBytesMax: 8_192, partBytesMax: 64 << 20, prefixBytesMax: 16_384)

    private(set) var trial: ClientTrial
    let expectations: ClientExpectations
    private let followsOwnPhones: Bool
    /// Paths that are none of the contract, which clients are not judged on.
    private let paths: PathMap
    private var tracks = SlotMap<ConnectionID, Track>()
    private var exchangesMade: UInt64 = 0

    init(_ configuration: ClientWatchConfiguration, paths: PathMap) {
        self.paths = paths
        self.trial = ClientTrial(configuration.rules)
        self.followsOwnPhones = configuration.followsOwnPhones
        self.expectations = configuration.expectations
    }

    // MARK: What the server handles

    mutating func note(_ event: ServerEvent, at now: Instant) {
        switch event {
        case .received(let id, let bytes): self.received(bytes, on: id, at: now)
        case .ended(let id), .gone(let id): self.ended(.left, id, at: now)
        case .receivedFiller, .cutDone, .backlog, .upstream, .woke: break
        }
    }

    mutating func note(_ effect: ServerEffect, at now: Instant) {
        switch effect {
        case .send(let id, let bytes), .sendApart(let id, let bytes): self.sent(bytes, on: id, at: now)
        case .finish(let id): self.finish(id, at: now)
        case .cut(let id, .close): self.ended(.closed, id, at: now)
        case .cut(let id, .reset), .cut(let id, .silence): self.ended(.reset, id, at: now)
        case .read, .observe, .served, .upstream: break
        }
    }

    // MARK: Requests

    private mutating func received(_ bytes: ArraySlice<UInt8>, on id: ConnectionID, at now: Instant) {
        var track = self.tracks[id] ?? Track()
        guard !track.isIgnored else { return }
        guard self.tracks[id] != nil || self.tracks.count < Self.connectionsMax else { return }
        self.tracks[id] = nil
        var events: [RequestEvent] = []
        // What cannot be read is answered by the server.
        try? track.requests.receive(bytes, into: &events)
        while track.requests.hasLeftOver {
            let count = events.count
            try? track.requests.receive([], into: &events)
            if events.count == count { break }
        }
        for event in events { self.take(event, &track, id, at: now) }
        self.tracks[id] = track
    }

    private mutating func take(
        _ event: RequestEvent, _ track: inout Track, _ id: ConnectionID, at now: Instant
    ) {
        switch event {
        case .head(let head): self.begin(head, &track, id, at: now)
        case .body(let piece):
            guard let index = track.exchanges.firstIndex(where: { $0.id == track.reading }) else { return }
            guard var form = track.exchanges[index].form else { return }
            track.exchanges[index].form = nil  // So that the reader is changed where it is.
            do throws(MultipartError) {
                try form.receive(piece)
                track.exchanges[index].form = form
            } catch {
                track.exchanges[index].fault = UploadFault(error).text
            }
        case .end:
            defer { track.reading = nil }
            guard let index = track.exchanges.firstIndex(where: { $0.id == track.reading }),
                track.exchanges[index].isForm
            else { return }
            let upload = Self.upload(&track.exchanges[index])
            self.trial.uploaded(track.exchanges[index].id, upload, at: now)
        }
    }

    private mutating func begin(
        _ head: RequestHead, _ track: inout Track, _ id: ConnectionID, at now: Instant
    ) {
        let isOwn = head.headers[TraceContext.headerName].flatMap(TraceContext.init(headerValue:)) != nil
        // A trial of this program asks what no client would, on connections of their own.
        let isProbe = head.headers[ProbeRequest.header] != nil
        if isProbe || isOwn && !self.followsOwnPhones {
            track.isIgnored = true
            return
        }
        self.exchangesMade += 1
        var watched = Watched(
            id: self.exchangesMade, isBodiless: head.method == "HEAD", form: nil, isForm: false)
        let place = JourneyPath(path: head.path)
        if place?.operation(method: head.method) == .upload, place?.journey.payload != .json {
            watched.isForm = true
            do throws(MultipartError) {
                let boundary = try MultipartReader.boundary(
                    contentType: head.headers["Content-Type"] ?? "")
                watched.form = try MultipartReader(boundary: boundary, limits: Self.form)
            } catch {
                watched.fault = UploadFault(error).text
            }
        }
        track.exchanges.append(watched)
        track.reading = watched.id
        guard !ServedRequest.isUnjudged(head.path), head.method != "OPTIONS",
            self.paths.place(method: head.method, path: head.path, query: head.query)?.foreignOperation == nil
        else { return }
        self.trial.requested(watched.id, ClientRequest(head), on: id.serial, at: now)
    }

    /// The upload as far as it has come.
    private static func upload(_ watched: inout Watched) -> ClientUpload {
        guard var form = watched.form else {
            return ClientUpload(parts: [], fault: watched.fault ?? "no form")
        }
        watched.form = nil
        do throws(MultipartError) {
            let parts = try form.finish()
            return ClientUpload(
                parts: parts.map {
                    ClientUpload.Part(name: $0.name, bytes: $0.byteCount, prefix: $0.prefix)
                })
        } catch {
            return ClientUpload(parts: [], fault: UploadFault(error).text)
        }
    }

    // MARK: Answers

    private mutating func sent(_ bytes: [UInt8], on id: ConnectionID, at now: Instant) {
        guard var track = self.tracks[id], !track.isIgnored, !track.exchanges.isEmpty else { return }
        self.tracks[id] = nil
        var events: [ResponseEvent] = []
        try? track.responses.receive(bytes[...], into: &events)
        for event in events { self.take(event, &track, at: now) }
        self.tracks[id] = track
    }

    private mutating func take(_ event: ResponseEvent, _ track: inout Track, at now: Instant) {
        guard !track.exchanges.isEmpty else { return }
        let id = track.exchanges[0].id
        switch event {
        case .head(let status, let headers):
            let type = headers["Content-Type"]?.split(separator: ";").first.map {
                $0.lowercased().filter { !$0.isWhitespace }
            }
            if type == "text/event-stream" {
                track.exchanges[0].stream = SSEBlockReader(bytesMax: Self.eventBytesMax)
            }
            self.trial.answered(
                id,
                ClientAnswer(
                    status: status, mediaType: type ?? "", retryAfter: headers[HeaderName.retryAfter]),
                at: now)
            if track.exchanges[0].isBodiless { self.end(&track, at: now) }
        case .body(let piece):
            guard track.exchanges[0].stream != nil else {
                if track.exchanges[0].body.count <= Self.bodyBytesMax { track.exchanges[0].body += piece }
                return
            }
            var blocks: [SSEBlock] = []
            track.exchanges[0].stream?.receive(Array(piece), into: &blocks)
            for block in blocks {
                if let event = block.event { self.trial.streamed(id, event, at: now) }
            }
        case .end: self.end(&track, at: now)
        }
    }

    /// The first answer is whole.
    private mutating func end(_ track: inout Track, at now: Instant) {
        let watched = track.exchanges.removeFirst()
        self.trial.ended(watched.id, .whole, body: watched.body, at: now)
        track.responses = ResponseReader()
    }

    // MARK: Ends

    private mutating func finish(_ id: ConnectionID, at now: Instant) {
        if var track = self.tracks[id] {
            // A body may be delimited by the end of its connection.
            var events: [ResponseEvent] = []
            try? track.responses.finish(into: &events)
            for event in events { self.take(event, &track, at: now) }
            self.tracks[id] = track
        }
        self.ended(.closed, id, at: now)
    }

    private mutating func ended(_ end: ClientEnd, _ id: ConnectionID, at now: Instant) {
        guard let track = self.tracks[id] else { return }
        self.tracks[id] = nil
        self.trial.disconnected(id.serial)
        for watched in track.exchanges {
            self.trial.ended(watched.id, end, body: watched.body, at: now)
        }
    }
}

extension UploadFault {
    fileprivate var text: String {
        switch self {
        case .malformed(let what): what
        case .tooManyParts: "too many parts"
        case .tooLarge: "a part is too large"
        case .timedOut: "the body came too slowly"
        }
    }
}
