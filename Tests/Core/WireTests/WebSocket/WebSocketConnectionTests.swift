import SimBase
import Testing

@testable import Wire

@Suite struct WebSocketConnectionTests {
    private typealias Effect = WebSocketConnection.Effect

    /// A connection, and what came of the events so far.
    private struct Side {
        var connection: WebSocketConnection
        let role: WebSocketRole
        var now = Instant.zero

        init(_ role: WebSocketRole) {
            self.role = role
            self.connection = WebSocketConnection(
                role: role, limits: .generous, acceptsBinary: false, patience: .seconds(5))
        }

        private mutating func effects(
            _ event: (inout WebSocketConnection, Instant, inout [Effect]) -> Void
        ) -> [Effect] {
            var effects: [Effect] = []
            event(&self.connection, self.now, &effects)
            return effects
        }

        mutating func received(_ frames: WebSocketFrame...) -> [Effect] {
            let bytes = bytes(self.role == .server ? frames.map(\.masked) : frames)
            return self.effects { $0.received(bytes[...], at: $1, into: &$2) }
        }

        mutating func closed(by code: WebSocketCloseCode) -> [Effect] {
            self.effects { $0.closed(by: WebSocketClose(code), at: $1, into: &$2) }
        }

        mutating func socketEnded() -> [Effect] { self.effects { $0.socketEnded(into: &$2) } }

        mutating func passed(_ time: Interval) -> [Effect] {
            self.now = self.now + time
            return self.effects { $0.timePassed(at: $1, into: &$2) }
        }
    }

    private static func close(_ code: WebSocketCloseCode) -> WebSocketFrame {
        WebSocketFrame(WebSocketClose(code))
    }

    private static let over: [Effect] = [.closeSocket, .ended(WebSocketClose(.normal))]
    private static let lost: [Effect] = [.closeSocket, .ended(WebSocketClose(.abnormal))]
    private static let sentClose: [Effect] = [.send(Self.close(.normal))]
    private static let gotClose: [Effect] = [.received(.close(WebSocketClose(.normal)))]

    @Test(arguments: WebSocketRole.allCases)
    func `a ping is answered with its payload, a pong is not`(role: WebSocketRole) {
        var side = Side(role)
        #expect(
            side.received(
                WebSocketFrame(.ping, [1, 2]), WebSocketFrame(text: "a"), WebSocketFrame(.pong, [3]))
                == [
                    .received(.ping([1, 2])), .send(WebSocketFrame(.pong, [1, 2])), .received(.text("a")),
                    .received(.pong([3])),
                ])
        #expect(side.connection.isOpen && side.connection.deadline == nil)
    }

    @Test func `a server that closes first awaits the client's close frame, and closes the socket`() {
        var side = Side(.server)
        #expect(side.closed(by: .normal) == Self.sentClose)
        #expect(!side.connection.isOpen && side.connection.deadline == .zero + .seconds(5))
        // What the client had sent before it read the close frame.
        #expect(
            side.received(WebSocketFrame(text: "a"), WebSocketFrame(.ping, []))
                == [.received(.text("a")), .received(.ping([])), .send(WebSocketFrame(.pong, []))])
        #expect(side.received(Self.close(.normal)) == Self.gotClose + Self.over)
        #expect(side.connection.deadline == nil)
    }

    @Test func `a server that is asked to close answers and closes the socket at once`() {
        var side = Side(.server)
        #expect(side.received(Self.close(.normal)) == Self.gotClose + Self.sentClose + Self.over)
        #expect(side.received(WebSocketFrame(text: "late")) == [])
        #expect(side.socketEnded() == [] && side.passed(.hours(1)) == [])
    }

    @Test func `a client that is asked to close answers and waits for the end of the socket`() {
        var side = Side(.client)
        #expect(side.received(Self.close(.normal)) == Self.gotClose + Self.sentClose)
        #expect(side.received(WebSocketFrame(.ping, [])) == [])
        #expect(side.closed(by: .normal) == [])
        #expect(side.socketEnded() == Self.over)
    }

    @Test func `a client that closes first waits for the close frame and then for the end of the socket`() {
        var side = Side(.client)
        #expect(side.closed(by: .normal) == Self.sentClose)
        #expect(side.closed(by: .protocolError) == [])
        #expect(side.passed(.seconds(3)) == [])
        #expect(side.received(Self.close(.normal)) == Self.gotClose)
        #expect(side.connection.deadline == .zero + .seconds(8))
        #expect(side.socketEnded() == Self.over)
    }

    @Test func `a client closes the socket itself if the server does not in time`() {
        var side = Side(.client)
        _ = side.received(Self.close(.normal))
        #expect(side.passed(.nanoseconds(4_999_999_999)) == [])
        #expect(side.passed(.nanoseconds(1)) == Self.over)
        #expect(side.passed(.seconds(5)) == [] && side.socketEnded() == [])
    }

    @Test(arguments: WebSocketRole.allCases)
    func `a close frame that is not answered in time is 1006`(role: WebSocketRole) {
        var side = Side(role)
        _ = side.closed(by: .normal)
        #expect(side.passed(.seconds(5)) == Self.lost)
    }

    @Test(arguments: WebSocketRole.allCases)
    func `a socket that ends without a close frame is 1006`(role: WebSocketRole) {
        var open = Side(role)
        #expect(open.socketEnded() == Self.lost)
        var closing = Side(role)
        _ = closing.closed(by: .normal)
        #expect(closing.socketEnded() == Self.lost)
    }

    @Test func `a close frame without a code is 1005, and its answer has none`() {
        var side = Side(.server)
        let none = WebSocketClose(.noStatus)
        #expect(
            side.received(WebSocketFrame(none))
                == [.received(.close(none)), .send(WebSocketFrame(.close, [])), .closeSocket, .ended(none)])
    }

    @Test func `an answer repeats the code without the reason`() {
        var side = Side(.client)
        let close = WebSocketClose(WebSocketCloseCode(rawValue: 1_011), reason: "broken")
        #expect(
            side.received(WebSocketFrame(close))
                == [.received(.close(close)), .send(WebSocketFrame(.close, [0x03, 0xF3]))])
        #expect(side.socketEnded() == [.closeSocket, .ended(close)])
    }

    @Test(
        arguments: [
            (WebSocketFrame(.text, [0xFF]), .invalidUTF8), (WebSocketFrame(.binary, []), .binaryMessage),
            (WebSocketFrame(.continuation, []), .unexpectedContinuation),
            (WebSocketFrame(.text, Array(repeating: 0, count: 1 << 20 + 1)), .frameTooLarge),
        ] as [(WebSocketFrame, WebSocketError)])
    func `an error is answered with its code, and nothing is read after it`(
        frame: WebSocketFrame, error: WebSocketError
    ) {
        let told: [Effect] = [.received(.text("a")), .failed(error), .send(Self.close(error.closeCode))]
        var server = Side(.server)
        #expect(
            server.received(WebSocketFrame(text: "a"), frame, WebSocketFrame(.ping, [])) == told + Self.lost)
        var client = Side(.client)
        #expect(client.received(WebSocketFrame(text: "a"), frame, WebSocketFrame(.ping, [])) == told)
        #expect(client.received(Self.close(.normal)) == [])
        #expect(client.passed(.seconds(5)) == Self.lost)
    }

    @Test func `an error after our close frame has no second one`() {
        var side = Side(.server)
        _ = side.closed(by: .normal)
        #expect(side.received(WebSocketFrame(.binary, [])) == [.failed(.binaryMessage)] + Self.lost)
    }
}
