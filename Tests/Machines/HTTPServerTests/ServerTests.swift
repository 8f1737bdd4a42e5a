import Backend
import Faults
import HTTPServer
import SimBase
import Talaria
import Testing
import Wire

@Suite struct ServerTests {
    private static let lte = LinkProfile(
        up: LinkDirection(delay: .milliseconds(65), bitsPerSecond: 10_000_000),
        down: LinkDirection(delay: .milliseconds(50), bitsPerSecond: 50_000_000))

    @Test func `a photo that is only a size makes the same job as its bytes`() {
        let parts = Script.upload(scan: 1, photoBytes: 300_000)
        var whole = Bench(link: Self.lte)
        let bytes = whole.connect()
        whole.send(Script.wholeUpload(scan: 1, photoBytes: 300_000), on: bytes)
        whole.run(for: .seconds(1))
        var sized = Bench(link: Self.lte)
        let size = sized.connect()
        sized.send(parts.start, on: size)
        sized.handle(.receivedFiller(size, bytes: parts.filler))
        sized.send(parts.end, on: size)
        sized.run(for: .seconds(1))
        #expect(whole[bytes].text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
        #expect(whole[bytes].text == sized[size].text)
        #expect(whole.seen == sized.seen)
    }

    @Test func `an answer comes when the link lets it: a handshake, the bytes, and both ways`() {
        var bench = Bench(link: Self.lte)
        let id = bench.connect()
        let upload = Script.wholeUpload(scan: 1, photoBytes: 100_000)
        bench.send(upload, on: id)
        // Handshake 115 ms, at 10 Mbit/s 0.8 µs a byte up, then both delays; the answer itself is small.
        let up = Interval.milliseconds(115) + .nanoseconds(Int64(upload.count) * 800)
        bench.run(until: .zero + up + .milliseconds(115))
        #expect(bench[id].bytes.isEmpty)
        bench.run(for: .milliseconds(1))
        #expect(bench[id].text.hasPrefix("HTTP/1.1 202 Accepted\r\n"))
    }

    @Test func `a sender that is ahead of its link is not read until the link has caught up`() {
        var bench = Bench(link: Self.lte)
        let id = bench.connect()
        let upload = Script.wholeUpload(scan: 1, photoBytes: 400_000)
        bench.send(Array(upload.prefix(200_000)), on: id)
        #expect(!bench[id].isRead)
        bench.run(until: .zero + .milliseconds(224))
        #expect(!bench[id].isRead, "115 ms of handshake and 160 ms of bytes, less the 50 that may wait")
        bench.run(for: .milliseconds(2))
        #expect(bench[id].isRead)
    }

    @Test func `a cut fires when its driver has made it, and not before`() {
        var bench = Bench(faults: [.cut(.reset(.afterBytes(17), .reply), on: .upload)])
        bench.cutsAtOnce = false
        let id = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: id)
        #expect(bench[id] == Bench.Peer(bytes: Array("HTTP/1.1 202 Acce".utf8), cut: .reset))
        #expect(bench.firings == [])
        bench.now = bench.now + .milliseconds(3)
        bench.handle(.cutDone(id))
        #expect(bench.firings == [.zero + .milliseconds(3)])
        #expect(bench.server.connectionsOpen == 0)
    }

    @Test func `a cut that its peer did not wait for leaves its firing to the next exchange`() {
        var bench = Bench(faults: [.cut(.reset(.afterBytes(17), .reply), on: .upload)])
        bench.cutsAtOnce = false
        let first = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: first)
        #expect(bench[first].cut == .reset)
        bench.handle(.gone(first))
        #expect(bench.firings == [])
        let second = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: second)
        #expect(bench[second].cut == .reset)
        bench.handle(.cutDone(second))
        #expect(bench.firings.count == 1)
        let third = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: third)
        #expect(bench[third].cut == nil, "once per scan")
    }

    @Test func `a request is cut off at the very byte, in a photo that is only a size, too`() {
        let parts = Script.upload(scan: 1, photoBytes: 100_000)
        let size = parts.start.count + parts.filler + parts.end.count
        func accepted(_ index: Int) -> Bool {
            var bench = Bench(faults: [
                .cut(.close(.betweenEvents, .request), on: .upload, after: .afterBytes(index...index))
            ])
            let id = bench.connect()
            bench.send(parts.start, on: id)
            bench.handle(.receivedFiller(id, bytes: parts.filler))
            bench.send(parts.end, on: id)
            #expect(bench.firings.isEmpty == (index == size))
            return bench[id].text.hasPrefix("HTTP/1.1 202")
        }
        #expect([parts.start.count, 50_000, size - 1].map(accepted) == [false, false, false])
        #expect(accepted(size))
    }

    @Test func `a request may be cut off at any byte of its heads while the rest is on its way`() {
        let parts = Script.upload(scan: 1, photoBytes: 20_000)
        for index in 0...parts.start.count + 2 {
            var bench = Bench(
                faults: [
                    .cut(.close(.betweenEvents, .request), on: .upload, after: .afterBytes(index...index))
                ], link: Self.lte)
            let id = bench.connect()
            bench.send(parts.start, on: id)
            bench.handle(.receivedFiller(id, bytes: parts.filler))
            bench.send(parts.end, on: id)
            bench.run(for: .seconds(1))
            #expect(bench.firings.count == 1 && bench[id].bytes.isEmpty, "at \(index)")
        }
    }

    @Test func `a stream brings the job's events, ends, and is cleaned of its connection`() throws {
        var bench = Bench()
        let upload = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        let token = try Script.member("authToken", of: bench[upload].text)
        let path = try Script.member("sseUrl", of: bench[upload].text)
        let stream = bench.connect()
        bench.send(Script.get(path, token: token, .stream), on: stream)
        bench.run(for: .seconds(1))
        let text = bench[stream].text
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.components(separatedBy: "event: progress\n").count == 7)
        #expect(text.hasSuffix("\r\n0\r\n\r\n"))
        #expect(bench[stream].isFinished)
        #expect(!bench[upload].isFinished)
        #expect(bench.server.connectionsOpen == 1)
    }

    /// The text of a job's stream.
    private func stream(_ bench: inout Bench) throws -> ConnectionID {
        let upload = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        let token = try Script.member("authToken", of: bench[upload].text)
        let path = try Script.member("sseUrl", of: bench[upload].text)
        let stream = bench.connect()
        bench.send(Script.get(path, token: token, .stream), on: stream)
        bench.run(for: .seconds(1))
        return stream
    }

    @Test func `the lines of a stream end as its server ends them, stamps and pings included`() throws {
        var plain = Bench(ping: .milliseconds(20))
        let stream = try self.stream(&plain)
        let text = try self.body(plain[stream].bytes)
        #expect(text.contains("event: ping\n") && text.contains(": t="))
        for (ends, end) in [(BackendConfiguration.LineEnds.crlf, "\r\n"), (.cr, "\r")] {
            var bench = Bench(ping: .milliseconds(20), lineEnds: ends)
            let stream = try self.stream(&bench)
            #expect(try self.body(bench[stream].bytes) == text.replacing("\n", with: end))
        }
    }

    /// What a chunked answer carries.
    private func body(_ bytes: [UInt8]) throws -> String {
        var reader = ResponseReader()
        var events: [ResponseEvent] = []
        try reader.receive(bytes[...], into: &events)
        return String(
            decoding: events.flatMap { event -> [UInt8] in
                if case .body(let piece) = event { Array(piece) } else { [] }
            }, as: UTF8.self)
    }

    @Test func `a clean end inside an event completes the answer and not the event`() throws {
        var bench = Bench(faults: [
            .cut(.endCleanly(.insideEvent), on: .stream, after: .afterEvents(2...2))
        ])
        let stream = try self.stream(&bench)
        #expect(bench[stream].cut == .close)
        #expect(bench.firings.count == 1)
        #expect(bench[stream].text.hasSuffix("\r\n0\r\n\r\n"))
        let body = try self.body(bench[stream].bytes)
        let blocks = body.components(separatedBy: "\n\n")
        #expect(blocks.dropLast().count == 4, "a comment, the state and two events")
        #expect(!body.hasSuffix("\n\n"))
        #expect(bench.server.connectionsOpen == 1)
    }

    @Test func `a clean end at a moment completes the answer there`() throws {
        var bench = Bench(
            faults: [
                .cut(
                    .endCleanly(.betweenEvents), on: .stream,
                    after: .afterTime(.milliseconds(500)...(.milliseconds(500))))
            ], jobTime: .seconds(10))
        let stream = try self.stream(&bench)
        #expect(bench[stream].cut == .close)
        #expect(bench[stream].text.hasSuffix("\r\n0\r\n\r\n"))
    }

    @Test func `a half-open connection says nothing and is let go when its peer has given up`() throws {
        var bench = Bench(faults: [
            .cut(.silence(.betweenEvents, .reply), on: .stream, after: .afterEvents(2...2))
        ])
        let upload = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: upload)
        let token = try Script.member("authToken", of: bench[upload].text)
        let stream = bench.connect()
        bench.send(
            Script.get(try Script.member("sseUrl", of: bench[upload].text), token: token, .stream), on: stream
        )
        bench.run(for: .seconds(5))
        #expect(bench[stream].cut == .silence)
        #expect(bench[stream].text.components(separatedBy: "id: ").count == 4)
        #expect(bench.server.connectionsOpen == 2)
        bench.handle(.gone(stream))
        #expect(bench.server.connectionsOpen == 1)
    }

    @Test func `what comes of a connection that is over changes nothing`() {
        var bench = Bench()
        let first = bench.connect()
        bench.handle(.ended(first))
        #expect(bench[first] == Bench.Peer(isFinished: true))
        let second = bench.connect()
        #expect(second != first)
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 1_000), on: first)
        bench.handle(.gone(first))
        bench.handle(.cutDone(first))
        #expect(bench.seen == [])
        #expect(bench.server.connectionsOpen == 1)
    }

    @Test func `the answer to a HEAD has no body, and the connection goes on`() {
        var bench = Bench()
        let id = bench.connect()
        bench.send(Array("HEAD /nowhere HTTP/1.1\r\nHost: x\r\n\r\n".utf8), on: id)
        let head = bench[id].text
        #expect(head.hasPrefix("HTTP/1.1 404 ") && head.hasSuffix("\r\n\r\n"))
        #expect(!head.contains("Content-Length: 0\r\n"))
        bench.send(Array("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n".utf8), on: id)
        #expect(bench[id].text.dropFirst(head.count).hasPrefix("HTTP/1.1 404 "))
    }

    @Test func `a client of HTTP 1.0 that asks for it is told that the connection goes on`() {
        var bench = Bench()
        let id = bench.connect()
        bench.send(
            Array("GET /nowhere HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n".utf8), on: id)
        #expect(bench[id].text.contains("\r\nConnection: keep-alive\r\n"))
        #expect(!bench[id].isFinished)
        let other = bench.connect()
        bench.send(Array("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n".utf8), on: other)
        #expect(!bench[other].text.contains("Connection:"))
    }

    @Test func `the nonce is answered where there is one`() {
        var bench = Bench()
        let id = bench.connect()
        bench.send(Array("GET \(Server.noncePath) HTTP/1.1\r\nHost: x\r\n\r\n".utf8), on: id)
        #expect(bench[id].text.hasSuffix("\r\n\r\nnonce-7"))
    }

    @Test func `a connection without a request is closed after its time`() {
        var bench = Bench()
        let id = bench.connect()
        bench.run(until: .zero + HTTPServerLimits.keepAliveTime - .nanoseconds(1))
        #expect(!bench[id].isFinished)
        bench.run(for: .nanoseconds(1))
        #expect(bench[id].isFinished)
    }

    @Test func `an upload whose body stops is answered with 408 after its time, and closed`() {
        var bench = Bench()
        let id = bench.connect()
        bench.send(Script.upload(scan: 1, photoBytes: 300_000).start, on: id)
        bench.run(for: HTTPServerLimits.bodyTime - .nanoseconds(1))
        #expect(bench[id].bytes.isEmpty)
        bench.run(for: .seconds(1))
        #expect(bench[id].text.hasPrefix("HTTP/1.1 408 "))
        #expect(bench[id].text.contains("Connection: close\r\n"))
        #expect(bench[id].isFinished)
    }

    @Test func `a copy is a snapshot: both go on alike`() {
        var bench = Bench(link: Self.lte)
        let id = bench.connect()
        bench.send(Script.wholeUpload(scan: 1, photoBytes: 50_000), on: id)
        bench.run(for: .milliseconds(150))
        var copy = bench
        bench.run(for: .seconds(5))
        copy.run(for: .seconds(5))
        #expect(bench[id] == copy[id])
        #expect(bench.observations == copy.observations)
        #expect(!bench[id].bytes.isEmpty)
    }
}
