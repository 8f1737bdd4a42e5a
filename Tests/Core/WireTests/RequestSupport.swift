import Wire

/// What a server sees of a connection, body pieces joined so that the cuts do not show.
enum Seen: Hashable {
    case head(RequestHead)
    case body([UInt8])
    case end
    case failed(RequestError)
}

extension RequestReader.Limits {
    /// Tight enough to be reached by hand-written requests.
    static let tight = RequestReader.Limits(
        requestLineBytesMax: 40, headBytesMax: 120, headerCountMax: 4, bodyBytesMax: 32,
        chunkLineBytesMax: 12,
        leftOverBytesMax: 4_096)
}

/// Reads a whole connection, each request answered at once, and its end.
func seen(_ pieces: [[UInt8]], limits: RequestReader.Limits = .standard) -> [Seen] {
    var reader = RequestReader(limits: limits)
    var seen: [Seen] = []
    func add(_ events: [RequestEvent]) {
        for event in events {
            switch (event, seen.last) {
            case (.head(let head), _): seen.append(.head(head))
            case (.body(let piece), .body(let before)?): seen[seen.count - 1] = .body(before + piece)
            case (.body(let piece), _): seen.append(.body(Array(piece)))
            case (.end, _): seen.append(.end)
            }
        }
    }
    func receive(_ bytes: [UInt8]) throws(RequestError) {
        var events: [RequestEvent] = []
        defer { add(events) }
        try reader.receive(bytes, into: &events)
    }
    do throws(RequestError) {
        for piece in pieces {
            try receive(piece)
            while reader.hasLeftOver { try receive([]) }
        }
        try reader.finish()
    } catch {
        seen.append(.failed(error))
    }
    return seen
}

func seen(_ text: String, limits: RequestReader.Limits = .standard) -> [Seen] {
    seen([Array(text.utf8)], limits: limits)
}

/// The head of a GET with nothing but `Host: h`, to be changed where a test differs.
func plainHead(_ change: (inout RequestHead) -> Void = { _ in }) -> RequestHead {
    var head = RequestHead(
        method: "GET", target: "/", path: "/", query: nil, version: .http11, headers: ["Host": "h"],
        body: .none,
        expectsContinue: false, keepsAlive: true)
    change(&head)
    return head
}
