import CurlLoop
import EventLoop
import SimBase
import SystemIO
import TLS
import Wire

// A channel with an engine between its socket and its machine.
extension ClientPool {
    /// The host that a certificate must be for; nil if it has no form of one. The dot of the root is no part of the name.
    static func server(of authority: Substring) -> ServerName? {
        HostName(authority).flatMap {
            ServerName($0.name.hasSuffix(".") ? String($0.name.dropLast()) : $0.name)
        }
    }

    /// Begins the handshake; what follows if that is impossible.
    func secure(_ channel: ClientChannel) -> ClientConnection.Outcome {
        guard let server = channel.server else {
            return channel.machine.broken("the host of the URL is no name that a certificate can have")
        }
        switch self.trusted() {
        case .failure(let flaw): return channel.machine.broken("no certificate authorities: \(flaw)")
        case .success(let context):
            channel.tls = TLSEngine(context, to: server, resuming: self.sessionOfPhone[channel.phone])
        }
        if self.plaintext.isEmpty {
            self.plaintext = [UInt8](
                repeating: 0, count: TLSEngine.plaintextBytesMax(ofReceived: self.received.count))
        }
        channel.tls?.start(into: &self.ciphertext)
        self.sendCiphertext(channel)
        return .nothing
    }

    /// The authorities of `--cacert` or of libcurl on this system. Read once: a connection takes none of their time.
    private func trusted() -> Result<TLSContext, TLSIdentityError> {
        if let trust = self.trust { return trust }
        let system = CurlGlobal.authorities
        let trust = Result { () throws(TLSIdentityError) in
            try TLSContext(
                trustedFile: self.target.certificateAuthorities ?? system.file, folder: system.folder)
        }
        self.trust = trust
        return trust
    }

    // MARK: Sending

    func sendRequestWithTLS(_ channel: ClientChannel) {
        let isNew = !channel.request.isEmpty
        let request = isNew ? channel.request : self.draft.bytes
        channel.request = []
        self.sendWithTLS(request, channel)
    }

    func sendWithTLS(_ bytes: [UInt8], _ channel: ClientChannel) {
        if channel.tls?.send(bytes, into: &self.ciphertext) == true {
            self.sendCiphertext(channel)
        } else {
            channel.machine.sendFailed(SystemCode.brokenPipe)
        }
    }

    private func sendCiphertext(_ channel: ClientChannel) {
        guard !self.ciphertext.isEmpty else { return }
        channel.unsent += self.ciphertext
        self.ciphertext.removeAll(keepingCapacity: true)
        self.sendRest(channel)
    }

    // MARK: Receiving

    /// Decrypts what was read from the socket: the outcome for its exchange.
    func receiveWithTLS(_ count: Int, _ channel: ClientChannel, at now: Instant) -> ClientConnection.Outcome {
        guard let result = self.decrypt(count, channel) else { return .nothing }
        if channel.machine.isSecuring, channel.tls?.isEstablished == true {
            self.connects?.set(key: self.key(of: channel), at: nil)
            channel.noteSecured(at: now)
            _ = channel.machine.secured()
            self.sendRequest(channel)
        }
        let outcome: ClientConnection.Outcome =
            result.count == 0
            ? .nothing : channel.machine.received(self.plaintext[..<result.count], into: &self.events)
        switch (outcome, result.end) {
        case (_, nil): return outcome
        case (.nothing, .closed): return channel.machine.ended(into: &self.events)
        case (.nothing, .failed(let failure)): return channel.machine.broken(failure.description)
        case (.ended(let failure, _), _):
            // Complete, on a connection that has no other exchange.
            channel.machine.close()
            return .ended(failure, isKept: false)
        case (.connect, _), (.secure, _), (.send, _), (.close, _): return outcome
        }
    }

    /// Nil without an engine.
    private func decrypt(_ count: Int, _ channel: ClientChannel) -> TLSEngine.Received? {
        let result = channel.tls?.receive(
            self.received[..<count], into: &self.plaintext, ciphertext: &self.ciphertext)
        self.sendCiphertext(channel)
        return result
    }

    /// Reads what has come between two exchanges: tickets of the server are no answer.
    func isStillIdleWithTLS(_ channel: ClientChannel) -> Bool {
        while true {
            switch StreamSocket.receive(channel.socket, into: &self.received) {
            case .wouldBlock: return true
            case .bytes(let count):
                guard let result = self.decrypt(count, channel), result.count == 0, result.end == nil else {
                    return false
                }
            case .end, .failed: return false
            }
        }
    }

    // MARK: The end

    /// The phone's next connection resumes the session.
    func keepSession(of channel: ClientChannel) {
        if let session = channel.tls?.session { self.sessionOfPhone[channel.phone] = session }
    }

    /// Says goodbye, as libcurl does, and frees the engine.
    func endTLS(of channel: ClientChannel) {
        guard channel.tls != nil else { return }
        self.keepSession(of: channel)
        channel.tls?.close(into: &self.ciphertext)
        // Behind a part of a record it would be no goodbye.
        if channel.unsent.isEmpty { _ = StreamSocket.send(channel.socket, self.ciphertext[...]) }
        self.ciphertext.removeAll(keepingCapacity: true)
        channel.tls = nil
    }
}
