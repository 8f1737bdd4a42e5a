import HTTPClient
import SimBase
import SimTestSupport
import SystemIO
import Testing
import Wire

/// Damaged answers, and the events of a socket in any order.
@Suite struct ClientConnectionFuzzTests {
    private static let words = [
        "HTTP/1.1 ", "HTTP/1.0 ", "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "200 OK", "204 No Content", "304 Not Modified", "\r\n\r\n", "Content-Length: ",
        "Content-Length: 2\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n", "Connection: close\r\n",
        "Connection: keep-alive\r\n", "0\r\n\r\n", "2\r\nok\r\n", "ffffffffffffffff\r\n", "2;a=b\r\nok\r\n",
        "Trailer: x\r\n", " folded: yes\r\n",
    ]
    private static let corpus = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nuntil the end",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nContent-Length: 2\r\n\r\n\u{1}\u{2}ok\r\n\r\n",
    ].map { Array($0.utf8) }
    private static let answers = Mutator(corpus: Self.corpus, dictionary: Self.words)

    /// What an exchange came to, without what depends on the cuts: a connection that has bytes behind its answer is not kept,
    /// and of two flaws of a head either may be named.
    private struct Course: Equatable {
        struct End: Equatable {
            let failure: TransportFailure?
            let isKept: Bool
        }

        var heads: [Int] = []
        var body: [UInt8] = []
        var isWhole = false
        var isSwitched = false
        var end: End?

        mutating func take(_ outcome: ClientConnection.Outcome, _ events: inout [ResponseEvent]) {
            for event in events {
                switch event {
                case .head(let status, _): self.heads.append(status)
                case .body(let bytes): self.body += bytes
                case .end: self.isWhole = true
                }
            }
            events = []
            switch outcome {
            case .ended(let failure, let isKept): self.end = End(failure: failure?.kind, isKept: isKept)
            case .close: self.end = End(failure: nil, isKept: false)
            case .nothing, .connect, .secure, .send: break
            }
        }
    }

    private static func course(of pieces: [[UInt8]], isHead: Bool, isUpgrade: Bool) -> Course {
        var connection = ClientConnection.closed
        let terms = ClientConnection.Terms(isHead: isHead, keepsConnection: true, isUpgrade: isUpgrade)
        _ = connection.connect(addresses: 1, isSecure: false, within: .seconds(1), terms, at: .zero)
        _ = connection.connected()
        connection.sent()
        var course = Course()
        var events: [ResponseEvent] = []
        // A socket has no empty reads.
        for piece in pieces where !piece.isEmpty {
            let outcome = connection.received(piece[...], into: &events)
            course.take(outcome, &events)
            if connection.isSwitched { course.isSwitched = true }
        }
        if course.end == nil { course.take(connection.ended(into: &events), &events) }
        return course
    }

    @Test func `how an answer is cut into reads does not show`() {
        Fuzz.run("client-answer", quick: 1_500, report: { Issue.record("\($0)") }) { fuzz in
            let bytes = Self.answers.input(fuzz)
            let isHead = fuzz.below(4, 1, 0) == 0
            let isUpgrade = fuzz.below(2, 2, 0) == 0
            let whole = Self.course(of: [bytes], isHead: isHead, isUpgrade: isUpgrade)
            let end = try #require(whole.end, "an exchange without an end")
            try #require((end.failure == nil) == whole.isWhole)
            try #require(whole.isSwitched == (whole.heads == [101]))
            try #require(isUpgrade || !whole.isSwitched)
            try #require(!(whole.isSwitched && end.isKept))
            for pieces in fuzz.cuts(of: bytes) {
                try #require(Self.course(of: pieces, isHead: isHead, isUpgrade: isUpgrade) == whole)
            }
        }
    }

    /// The owner of a connection: what it may do, and what it was told.
    private struct Owner {
        var connection = ClientConnection.closed
        var now = Instant.zero
        var isUnderWay = false
        var begun = 0
        var ended = 0
        var events: [ResponseEvent] = []

        mutating func begin(_ draw: Int) {
            let terms = ClientConnection.Terms(
                isHead: draw & 1 == 1, keepsConnection: draw & 2 == 2, isUpgrade: draw & 4 == 4)
            self.isUnderWay = true
            self.begun += 1
            guard !self.connection.isIdle else {
                _ = self.connection.begin(terms)
                return
            }
            _ = self.connection.connect(
                addresses: 1 + draw % 3, isSecure: draw & 8 == 8, within: .seconds(1), terms, at: self.now)
        }

        mutating func take(_ outcome: ClientConnection.Outcome) throws {
            switch outcome {
            case .ended(let failure, let isKept):
                try #require(self.isUnderWay, "an end without an exchange")
                try #require(isKept == self.connection.isIdle && !(isKept && failure != nil))
                try #require((failure == nil) == (self.events.last == .end))
                self.isUnderWay = false
                self.ended += 1
            case .close:
                try #require(!self.isUnderWay && !self.connection.isIdle)
            case .connect, .secure, .send:
                try #require(self.isUnderWay)
            case .nothing: break
            }
            if !self.isUnderWay { try #require(self.connection.deadline == nil) }
            if self.events.last == .end || !self.isUnderWay { self.events = [] }
        }

        mutating func step(_ choice: Int, _ piece: [UInt8]) throws {
            switch choice {
            case 0: try self.take(self.connection.connected())
            case 1: try self.take(self.connection.secured())
            case 2: try self.take(self.connection.connectFailed(SystemCode.connectionRefused, at: self.now))
            case 3:
                self.now = self.now + .milliseconds(400)
                try self.take(self.connection.timePassed(at: self.now))
            case 4: self.connection.sent()
            case 5: self.connection.sendFailed(SystemCode.brokenPipe)
            case 6: try self.take(self.connection.ended(into: &self.events))
            case 7: try self.take(self.connection.failed(SystemCode.connectionReset))
            case 8: try self.take(self.connection.broken("a bad record"))
            case 9 where self.connection.isSwitched: try self.take(self.connection.overflowed(limit: 0))
            default:
                guard !piece.isEmpty else { return }
                try self.take(self.connection.received(piece[...], into: &self.events))
            }
        }
    }

    @Test func `an exchange ends once, in whatever order its socket's events come`() {
        Fuzz.run("client-events", quick: 3_000, report: { Issue.record("\($0)") }) { fuzz in
            let damaged = Array(Self.answers.input(fuzz).prefix(400))
            var owner = Owner()
            if fuzz.below(2, 7, 0) == 0 { owner.connection = .idle }
            for step in 0..<UInt64(1 + fuzz.below(30, 10, 0)) {
                if !owner.isUnderWay, fuzz.below(3, 2, step) > 0 { owner.begin(fuzz.below(24, 3, step)) }
                // Whole answers, after which the connection is kept, and pieces of a damaged one.
                let isWhole = fuzz.below(2, 8, step) == 0
                let answer = isWhole ? Self.corpus[[0, 1, 4][fuzz.below(3, 9, step)]] : damaged
                let start = isWhole ? 0 : fuzz.below(answer.count + 1, 4, step)
                let end = isWhole ? answer.count : start + fuzz.below(answer.count - start + 1, 5, step)
                try owner.step(fuzz.below(15, 6, step), Array(answer[start..<end]))
            }
            // Whatever state it is in, its time passes, and then its peer is gone.
            owner.now = owner.now + .seconds(2)
            if owner.isUnderWay { try owner.take(owner.connection.timePassed(at: owner.now)) }
            if owner.isUnderWay { try owner.take(owner.connection.failed(SystemCode.connectionReset)) }
            try #require(!owner.isUnderWay && owner.begun == owner.ended)
        }
    }
}
