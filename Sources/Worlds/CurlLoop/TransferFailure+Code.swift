import CCurl
import EventLoop
import SimBase
import SystemIO

extension Transfer {
    /// Returns the meaning of libcurl's result, nil for success.
    func failure(of result: CURLcode) -> TransferFailure? {
        guard result != CURLE_OK else {
            guard !self.isHeadComplete else { return nil }
            // libcurl takes the end of the connection for the end of the head.
            return TransferFailure(
                kind: .closedEarly, isResendRefused: false, code: Int32(CURLE_PARTIAL_FILE.rawValue),
                systemCode: 0,
                message: "the connection closed inside the response head")
        }
        let connectError = Int32(truncatingIfNeeded: self.easy.number(CURLINFO_OS_ERRNO))
        let code = self.socketError != 0 ? self.socketError : connectError
        let words = self.easy.message
        let isResendRefused = self.isResendRefused || self.isLentSocketDead(result)
        return TransferFailure(
            kind: isResendRefused ? .closedBeforeReply : self.kind(of: result, code),
            isResendRefused: isResendRefused,
            code: Int32(result.rawValue), systemCode: code,
            message: words.isEmpty ? unsafe String(cString: curl_easy_strerror(result)) : words)
    }

    /// `CURLE_TOO_LARGE`, which the header of 7.88 does not have; libcurl returns it from 8.6 on.
    private static let tooLarge = CURLcode(rawValue: 100)

    private func kind(of result: CURLcode, _ code: Int32) -> TransportFailure {
        if self.isHeadTooLong { return .malformed }
        if SystemCode.isDescriptorShortage(self.socketError) { return .descriptorsExhausted }
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return .nameNotResolved
        case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
            return code == SystemCode.connectionRefused ? .connectRefused : .connectFailed
        case CURLE_OPERATION_TIMEDOUT:
            return .connectTimedOut  // The only time limit that is set.
        case CURLE_GOT_NOTHING:
            return .closedBeforeReply
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND:
            if self.isRefusedByParser(result) { return .malformed }
            if code == SystemCode.connectionReset || code == SystemCode.brokenPipe { return .reset }
            return self.replied == nil ? .closedBeforeReply : .closedEarly
        case CURLE_PARTIAL_FILE:
            return .closedEarly
        case CURLE_HTTP2_STREAM:
            return .reset
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED:
            return .tls
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP3,
            CURLE_BAD_CONTENT_ENCODING, CURLE_FILESIZE_EXCEEDED, CURLE_WRITE_ERROR:
            return .malformed
        case CURLE_BAD_FUNCTION_ARGUMENT where self.sent != nil && !self.isHeadComplete:
            return .malformed  // libcurl's word for a folded line that has no line before it.
        // What libcurl says of a field beyond its own limit (100 KB).
        case CURLE_OUT_OF_MEMORY where self.sent != nil && !self.isHeadComplete,
            Self.tooLarge where self.sent != nil && !self.isHeadComplete:
            return .malformed
        default:
            // CURLcode is open: the rest are bad options, no memory, and protocols that are switched off.
            return .other
        }
    }

    /// Whether a socket that was lent ended before the first byte of the answer. For libcurl it is a new one, which it does
    /// not replace.
    private func isLentSocketDead(_ result: CURLcode) -> Bool {
        guard self.isLentSocketSilent else { return false }
        switch result {
        case CURLE_COULDNT_CONNECT, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
            CURLE_SEND_FAIL_REWIND:
            return true
        default: return false
        }
    }

    /// Whether a failure to receive does not come from the system: libcurl says the same of chunks that it
    /// cannot read and of heads that do not end, and only its message distinguishes them (its errno may be
    /// that of an earlier exchange). Under TLS it also says so of a connection that ended without its closing
    /// message.
    private func isRefusedByParser(_ result: CURLcode) -> Bool {
        result == CURLE_RECV_ERROR && self.request?.url.hasPrefix("http:") == true
            && !self.easy.message.hasPrefix("Recv failure")
    }
}
