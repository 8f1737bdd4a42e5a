import EventLoop
import SimBase
import SystemIO
import Testing

@Suite struct WatchTests {
    @Test func `a handler is called while there is something to read`() throws {
        let loop = try Loop(clock: .startingNow())
        let pipe = try Pipe()
        try DescriptorIO.setNonblocking(pipe.reading.number, true)
        let number = pipe.reading.number
        let bytes = Box<[UInt8]>([])
        let calls = Box(0)
        let watch = loop.watch(number, .read) { readiness in
            calls.value += 1
            #expect(readiness == .read)
            #expect(DescriptorIO.read(number, appendingTo: &bytes.value, limit: 2) != .wouldBlock)
        }
        #expect(DescriptorIO.write(pipe.writing.number, [1, 2, 3]) == .bytes(3))
        #expect(run(loop, until: { bytes.value.count == 3 }))
        run(loop, for: .milliseconds(12))
        #expect(bytes.value == [1, 2, 3])
        #expect(calls.value == 2)
        watch.cancel()
    }

    @Test func `interest can change, also inside the handler`() throws {
        let loop = try Loop(clock: .startingNow())
        let (left, right) = try connectedPair(loop)
        let seen = Box<[Readiness]>([])
        let watch = Box<Watch?>(nil)
        let number = left.number
        watch.value = loop.watch(number, .write) { readiness in
            seen.value.append(readiness)
            watch.value?.interest = readiness == .write ? .read : []
        }
        #expect(run(loop, until: { seen.value == [.write] }))
        run(loop, for: .milliseconds(12))
        #expect(watch.value?.interest == .read)
        _ = StreamSocket.send(right.number, [1])
        #expect(run(loop, until: { seen.value.count > 1 }))
        run(loop, for: .milliseconds(12))
        #expect(seen.value == [.write, .read])
        watch.value = nil
    }

    @Test func `a watch let go inside its handler is not called again`() throws {
        let loop = try Loop(clock: .startingNow())
        let (left, right) = try connectedPair(loop)
        let calls = Box(0)
        let watch = Box<Watch?>(nil)
        watch.value = loop.watch(left.number, [.read, .write]) { _ in
            calls.value += 1
            watch.value = nil
        }
        _ = StreamSocket.send(right.number, [1])
        run(loop, for: .milliseconds(12))
        #expect(calls.value == 1)
    }

    @Test func `a reset is seen as such, and only after what was sent before it`() throws {
        let loop = try Loop(clock: .startingNow())
        let (left, right) = try connectedPair(loop)
        let sender = right.release()
        _ = StreamSocket.send(sender, [7])
        #expect(run(loop, until: { StreamSocket.unsentBytes(sender) == 0 }))
        let first = Box<[UInt8]>([])
        #expect(StreamSocket.receive(left.number, appendingTo: &first.value, limit: 10) == .bytes(1))
        StreamSocket.resetOnClose(sender)
        StreamSocket.close(sender)
        let outcome = Box<Transferred?>(nil)
        let number = left.number
        let watch = Box<Watch?>(nil)
        watch.value = loop.watch(number, .read) { _ in
            var rest: [UInt8] = []
            outcome.value = StreamSocket.receive(number, appendingTo: &rest, limit: 10)
            watch.value?.cancel()
        }
        #expect(run(loop, until: { outcome.value != nil }))
        #expect(outcome.value == .failed(SystemCode.connectionReset))
        watch.value = nil
    }

    @Test func `two listeners never share a port`() throws {
        let first = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let port = try StreamSocket.localPort(of: first.number)
        #expect(throws: SystemError(call: "listen", code: SystemCode.addressInUse)) {
            _ = try StreamSocket.listen(host: "127.0.0.1", port: port)
        }
    }

    @Test func `a port that no one listens on refuses`() throws {
        let loop = try Loop(clock: .startingNow())
        let listener = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let port = try StreamSocket.localPort(of: listener.number)
        StreamSocket.close(listener.release())
        let socket = try StreamSocket.connect(host: "127.0.0.1", port: port)
        let code = Box<Int32?>(nil)
        let number = socket.number
        let watch = Box<Watch?>(nil)
        watch.value = loop.watch(number, .write) { _ in
            code.value = StreamSocket.takeError(number)
            watch.value?.cancel()
        }
        #expect(run(loop, until: { code.value != nil }))
        #expect(code.value == SystemCode.connectionRefused)
        watch.value = nil
    }

    /// Both ends of a TCP connection.
    private func connectedPair(_ loop: Loop) throws -> (Held, Held) {
        let listener = try StreamSocket.listen(host: "127.0.0.1", port: 0)
        let port = try StreamSocket.localPort(of: listener.number)
        let near = Held(try StreamSocket.connect(host: "127.0.0.1", port: port).release())
        let far = Box<Int32?>(nil)
        let accepted = run(
            loop,
            until: {
                if case .connection(let number) = StreamSocket.accept(listener.number) { far.value = number }
                return far.value != nil
            })
        #expect(accepted)
        return (near, Held(try #require(far.value)))
    }
}

/// A socket that may be held in a tuple.
private final class Held {
    let number: Int32
    private var isOwned = true

    init(_ number: Int32) { self.number = number }

    deinit { if self.isOwned { StreamSocket.close(self.number) } }

    func release() -> Int32 {
        self.isOwned = false
        return self.number
    }
}
