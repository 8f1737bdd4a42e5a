internal import COpenSSL

/// One side of one TLS connection, without its socket: bytes of the peer go in and plaintext comes out, and the other way
/// round. OpenSSL reads and writes memory.
///
/// Whoever owns the socket sends what is appended to `ciphertext`, in order. Positions in the plaintext are exact: what was
/// passed to `send` is in complete records, which the peer can read up to their last byte.
@safe package struct TLSEngine: ~Copyable {
    /// The result of `receive`.
    package struct Received: Hashable, Sendable {
        /// The number of bytes of plaintext, from the start of the buffer.
        package var count: Int
        /// Nothing more can be received; nil if the connection continues.
        package var end: End?
    }

    /// How the peer's data ends.
    package enum End: Hashable, Sendable {
        /// The peer sent close_notify. It still reads (RFC 8446 section 6.1).
        case closed
        /// The connection is of no use any more. An alert for the peer may have been appended.
        case failed(TLSFailure)
    }

    /// The size of the buffer for the plaintext of so many bytes: a record that was incomplete until now may come out, too
    /// (RFC 8446 section 5.2).
    package static func plaintextBytesMax(ofReceived count: Int) -> Int { count + 17 * 1_024 }

    /// Bytes that are handed to OpenSSL at once, in both directions: its buffers keep the size that they once had.
    private static let pieceBytes = 16 * 1_024

    private let isClient: Bool
    private let connection: OpaquePointer
    /// What the peer sent, and what is to be sent to it.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private var hasReceived = false
    private var isClosed = false
    private var end: End?

    /// The server's side.
    package init(_ context: TLSContext) {
        self.init(context, isClient: false)
        unsafe SSL_set_accept_state(self.connection)
    }

    /// The client's side, which accepts a certificate for this name or address only (RFC 9110 section 4.3.4). The server is
    /// offered the session of an earlier connection.
    package init(_ context: TLSContext, to server: ServerName, resuming session: TLSSession?) {
        self.init(context, isClient: true)
        unsafe SSL_set_connect_state(self.connection)
        unsafe server.require(of: self.connection)
        unsafe session?.set(for: self.connection)
    }

    private init(_ context: TLSContext, isClient: Bool) {
        guard let connection = unsafe SSL_new(context.raw), let incoming = unsafe BIO_new(BIO_s_mem()),
            let outgoing = unsafe BIO_new(BIO_s_mem())
        else { preconditionFailure("OpenSSL has no memory for a connection") }
        // The connection owns both from here on.
        unsafe SSL_set_bio(connection, incoming, outgoing)
        unsafe (self.connection, self.incoming, self.outgoing) = (connection, incoming, outgoing)
        self.isClient = isClient
    }

    deinit {
        // A session is resumed although its connection has ended without a goodbye (RFC 8446 section 6.1).
        if self.isEstablished { unsafe SSL_set_shutdown(self.connection, SSL_SENT_SHUTDOWN) }
        unsafe SSL_free(self.connection)
    }

    // MARK: The handshake

    /// Appends the first message of a client.
    package mutating func start(into ciphertext: inout [UInt8]) {
        OpenSSLErrors.clear()
        _ = unsafe SSL_do_handshake(self.connection)
        OpenSSLErrors.clear()
        self.takeOutgoing(into: &ciphertext)
    }

    /// The protocol that both sides agreed on by ALPN; nil without one.
    package var agreedProtocol: String? {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(self.connection, &bytes, &count)
        guard count > 0 else { return nil }
        return unsafe String(
            decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    /// A session that a later connection to the server can resume; nil if the server has sent none yet.
    package var session: TLSSession? { unsafe TLSSession.of(self.connection) }

    /// Whether the handshake has resumed the session of an earlier connection.
    package var isResumed: Bool { unsafe SSL_session_reused(self.connection) == 1 }

    /// Whether the handshake is complete and nothing has failed.
    package var isEstablished: Bool {
        if case .failed = self.end { return false }
        return unsafe SSL_is_init_finished(self.connection) != 0
    }

    /// Whether the peer has begun a handshake that is not complete.
    package var isHandshaking: Bool { self.hasReceived && self.end == nil && !self.isEstablished }

    // MARK: Receiving

    /// Takes bytes of the peer. Plaintext is written to the start of `plaintext`, which has room for
    /// `plaintextBytesMax` bytes. The engine's part of a handshake, or an alert, is appended to `ciphertext`.
    package mutating func receive(
        _ bytes: ArraySlice<UInt8>, into plaintext: inout [UInt8], ciphertext: inout [UInt8]
    ) -> Received {
        precondition(plaintext.count >= Self.plaintextBytesMax(ofReceived: bytes.count), "a read needs room")
        if !self.hasReceived, let first = bytes.first {
            self.hasReceived = true
            // A method. OpenSSL knows some of them, and needs several bytes to see it.
            if !self.isClient, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) {
                self.end = .failed(.plainHTTP)
            }
        }
        var received = Received(count: 0, end: nil)
        var start = bytes.startIndex
        while self.end == nil, start < bytes.endIndex {
            let end = min(start + Self.pieceBytes, bytes.endIndex)
            self.feed(bytes[start..<end])
            received.count += self.read(into: &plaintext, from: received.count)
            start = end
        }
        self.takeOutgoing(into: &ciphertext)
        received.end = self.end
        return received
    }

    private func feed(_ bytes: ArraySlice<UInt8>) {
        var count = 0
        let isWritten = unsafe bytes.withUnsafeBytes {
            unsafe BIO_write_ex(self.incoming, $0.baseAddress, $0.count, &count)
        }
        precondition(isWritten == 1 && count == bytes.count, "OpenSSL has no memory for what was received")
    }

    /// Reads until there is nothing more; returns how many bytes. Makes the handshake on the way.
    private mutating func read(into plaintext: inout [UInt8], from start: Int) -> Int {
        var end = start
        while self.end == nil {
            OpenSSLErrors.clear()
            var count = 0
            let result = unsafe plaintext.withUnsafeMutableBytes { room in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[end...])
                return unsafe SSL_read_ex(self.connection, rest.baseAddress, rest.count, &count)
            }
            end += count
            guard result != 1 else { continue }
            switch unsafe SSL_get_error(self.connection, result) {
            case SSL_ERROR_WANT_READ: return end - start
            case SSL_ERROR_ZERO_RETURN: self.end = .closed
            default: self.end = .failed(self.takeFailure())
            }
        }
        return end - start
    }

    private func takeFailure() -> TLSFailure {
        guard self.isClient else { return TLSFailure(OpenSSLErrors.take()) }
        return TLSFailure(
            ofServer: OpenSSLErrors.take(), verification: unsafe SSL_get_verify_result(self.connection))
    }

    // MARK: Sending

    /// Appends the records of a plaintext. False if nothing can be sent: before the end of the handshake, after `close`, and
    /// after a failure.
    package mutating func send(_ plaintext: [UInt8], into ciphertext: inout [UInt8]) -> Bool {
        guard self.isEstablished, !self.isClosed else { return false }
        var start = 0
        while start < plaintext.count {
            let end = min(start + Self.pieceBytes, plaintext.count)
            var count = 0
            OpenSSLErrors.clear()
            // Memory takes everything at once.
            let result = unsafe plaintext[start..<end].withUnsafeBytes {
                unsafe SSL_write_ex(self.connection, $0.baseAddress, $0.count, &count)
            }
            guard result == 1 else {
                self.end = .failed(self.takeFailure())
                return false
            }
            self.takeOutgoing(into: &ciphertext)
            start = end
        }
        return true
    }

    /// Appends close_notify, once; nothing before the end of the handshake or after a failure.
    package mutating func close(into ciphertext: inout [UInt8]) {
        guard self.isEstablished, !self.isClosed else { return }
        self.isClosed = true
        OpenSSLErrors.clear()
        _ = unsafe SSL_shutdown(self.connection)
        OpenSSLErrors.clear()
        self.takeOutgoing(into: &ciphertext)
    }

    private func takeOutgoing(into ciphertext: inout [UInt8]) {
        var bytes: UnsafePointer<UInt8>?
        let count = unsafe shim_bio_contents(self.outgoing, &bytes)
        guard count > 0 else { return }
        unsafe ciphertext.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        unsafe shim_bio_clear(self.outgoing)
    }
}
