import CurlLoop
import EventLoop
import SimBase
import SystemIO
import TLS
import Wire

// The sockets of channels: which a request takes, how one is connected, and what becomes of it.

extension ClientPool {
    func startByLibcurl(_ request: TransferRequest) -> TransferID {
        // libcurl cannot go on with the TLS of another.
        guard request.connectPort == nil, request.flaw == nil, request.url.hasPrefix("http:"),
            let idle = self.takeIdle(of: request.phone), let watch = idle.watch
        else { return self.curl.start(request) }
        let socket = idle.socket
        guard let line = idle.line else {
            self.letGo(of: idle)
            return self.curl.start(request, lent: socket, watch: watch)
        }
        guard self.sockets.giveBack(socket, watch: watch) else {
            // libcurl has closed its connection of this socket, and cannot be given it again: see `CurlPool.start`.
            self.release(idle)
            return self.curl.start(request)
        }
        self.letGo(of: idle)
        return self.curl.start(request, line: line)
    }

    /// The socket is libcurl's now, and its watch goes on.
    func letGo(of channel: ClientChannel) {
        self.channelOfSocket[Int(channel.socket)] = nil
        (channel.socket, channel.watch, channel.line) = (-1, nil, nil)
        self.release(channel)
    }

    /// A connection that libcurl has kept is the phone's next one.
    func take(_ socket: Int32, of phone: Int, line: Int, watch: Watch?) {
        let channel = self.freeChannel(for: phone)
        channel.machine = .idle
        channel.line = line
        self.adopt(socket, by: channel)
        channel.watch = watch ?? self.watch(socket, .read)
    }

    /// The phone's newest idle connection. The end of a connection may not have been reported yet: a read finds
    /// it, as well as bytes that answer no request.
    func takeIdle(of phone: Int) -> ClientChannel? {
        while let channel = self.channelsOfPhone[phone].last(where: { $0.machine.isIdle }) {
            if self.isStillIdle(channel) { return channel }
            self.release(channel)
        }
        return nil
    }

    private func isStillIdle(_ channel: ClientChannel) -> Bool {
        guard channel.tls == nil else { return self.isStillIdleWithTLS(channel) }
        if case .wouldBlock = StreamSocket.receive(channel.socket, into: &self.probe) { return true }
        return false
    }

    func freeChannel(for phone: Int) -> ClientChannel {
        let channel: ClientChannel
        if let free = self.free.popLast() {
            channel = free
        } else {
            channel = ClientChannel(slot: Self.firstSlot + UInt32(self.channels.count))
            self.channels.append(channel)
        }
        channel.open(for: phone)
        self.channelsOfPhone[phone].append(channel)
        return channel
    }

    private func adopt(_ socket: Int32, by channel: ClientChannel) {
        while Int(socket) >= self.channelOfSocket.count { self.channelOfSocket.append(nil) }
        self.channelOfSocket[Int(socket)] = channel
        channel.socket = socket
    }

    func watch(_ socket: Int32, _ interest: Readiness) -> Watch {
        self.loop.watch(socket, interest) { [unowned self] readiness in self.ready(socket, readiness) }
    }

    func connect(
        _ channel: ClientChannel, isSecure: Bool, _ terms: ClientConnection.Terms, at now: Instant
    ) -> ClientConnection.Outcome {
        let addresses = channel.connectPort == nil ? self.target.addresses.count : 1
        return channel.machine.connect(
            addresses: addresses, isSecure: isSecure, within: self.target.connectTimeout, terms, at: now)
    }

    /// Begins to connect to an address; what follows if that fails at once.
    func connect(_ channel: ClientChannel, to address: Int) -> ClientConnection.Outcome {
        self.closeSocket(of: channel)
        // A closed port is certain to be closed on this host only.
        let host = channel.connectPort == nil ? self.target.addresses[address] : "127.0.0.1"
        // libcurl's connection went to the target, without TLS.
        let isLikeLibcurls = channel.connectPort == nil && channel.server == nil
        let dead = isLikeLibcurls ? self.curl.takeDeadSocket(of: channel.phone) : nil
        channel.line = dead?.line
        do throws(SystemError) {
            let socket = try self.sockets.connect(
                for: channel.phone, to: host, port: channel.connectPort ?? self.target.port,
                inPlaceOf: dead?.socket)
            self.adopt(socket, by: channel)
            channel.watch = self.watch(socket, .write)
            self.connects?.set(key: self.key(of: channel), at: channel.machine.deadline)
            return .nothing
        } catch {
            self.freeLine(of: channel)
            return channel.machine.connectFailed(error.code, at: self.loop.now())
        }
    }

    func key(of channel: ClientChannel) -> Int { Int(channel.slot - Self.firstSlot) }

    func dropSocket(of channel: ClientChannel) {
        guard channel.socket >= 0 else { return }
        channel.watch?.cancel()
        channel.watch = nil
        channel.tls = nil
        self.channelOfSocket[Int(channel.socket)] = nil
        channel.socket = -1
    }

    func closeSocket(of channel: ClientChannel) {
        let socket = channel.socket
        self.endTLS(of: channel)
        self.dropSocket(of: channel)
        if socket >= 0 { self.sockets.closeOwn(socket) }
        self.freeLine(of: channel)
    }

    private func freeLine(of channel: ClientChannel) {
        guard let line = channel.line else { return }
        channel.line = nil
        self.curl.freeLine(line, of: channel.phone)
    }

    /// Closes the connection and gives its place away.
    func release(_ channel: ClientChannel) {
        self.closeSocket(of: channel)
        if channel.machine.deadline != nil { self.connects?.set(key: self.key(of: channel), at: nil) }
        channel.machine = .closed
        if channel.hasExchange {
            self.transfersRunning -= 1
            channel.end()
        }
        self.channelsOfPhone[channel.phone].removeAll { $0 === channel }
        self.free.append(channel)
    }
}
