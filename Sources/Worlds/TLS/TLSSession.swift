internal import COpenSSL

/// What two connections of a client to a server have in common, so that the second does without most of the handshake
/// (RFC 8446 section 2.2). OpenSSL's `SSL_SESSION`.
@safe package final class TLSSession {
    private let raw: OpaquePointer

    private init(owning raw: OpaquePointer) { unsafe self.raw = raw }

    /// Nil if the connection has none that can be resumed.
    @unsafe static func of(_ connection: OpaquePointer) -> TLSSession? {
        guard let raw = unsafe SSL_get_session(connection), unsafe SSL_SESSION_is_resumable(raw) == 1,
            unsafe SSL_SESSION_up_ref(raw) == 1
        else { return nil }
        return unsafe TLSSession(owning: raw)
    }

    deinit { unsafe SSL_SESSION_free(self.raw) }

    @unsafe func set(for connection: OpaquePointer) { unsafe SSL_set_session(connection, self.raw) }
}
