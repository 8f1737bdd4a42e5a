import CSystem
package import SimBase
package import SystemIO

/// System calls on TCP sockets. All sockets are non-blocking and close-on-exec; none raises SIGPIPE.
package enum StreamSocket {
    /// Connections that may wait to be accepted.
    package static let backlogMax: Int32 = 4_096

    /// Listens on a numeric address; port 0 lets the system choose. Never shares a port.
    package static func listen(
        host: String, port: UInt16, backlog: Int32 = Self.backlogMax
    ) throws(SystemError) -> Descriptor {
        Descriptor(owning: try SystemError.check("listen", unsafe shim_listen(host, port, backlog)))
    }

    /// Begins connecting to a numeric address; the socket is ready for writing once that succeeded or failed
    /// (see `takeError`).
    package static func connect(host: String, port: UInt16) throws(SystemError) -> Descriptor {
        Descriptor(owning: try SystemError.check("connect", unsafe shim_connect(host, port)))
    }

    /// Begins connecting from a numeric source address; nil leaves that to the system.
    package static func connect(
        host: String, port: UInt16, from source: String?
    ) throws(SystemError) -> Descriptor {
        let result =
            if let source {
                unsafe shim_connect_from(source, host, port)
            } else {
                unsafe shim_connect(host, port)
            }
        return Descriptor(owning: try SystemError.check("connect", result))
    }

    /// The result of accepting a connection.
    package enum Accepted: Hashable, Sendable {
        /// A new connection, the caller's to close.
        case connection(Int32)
        case wouldBlock
        /// errno; EMFILE and ENFILE leave the connection waiting and the listener ready.
        case failed(Int32)
    }

    package static func accept(_ listener: Int32) -> Accepted {
        let result = shim_accept(listener)
        if result >= 0 { return .connection(result) }
        return result == -EAGAIN || result == -EWOULDBLOCK ? .wouldBlock : .failed(-result)
    }

    /// Appends at most `limit` bytes.
    package static func receive(_ socket: Int32, appendingTo bytes: inout [UInt8], limit: Int) -> Transferred
    {
        unsafe DescriptorIO.append(&bytes, limit) { unsafe shim_receive(socket, $0, $1) }
    }

    /// Receives into a buffer that the caller keeps, from its start: no allocation. Returns how much of it is valid.
    package static func receive(_ socket: Int32, into buffer: inout [UInt8]) -> Transferred {
        unsafe buffer.withUnsafeMutableBytes { room in
            Transferred(unsafe shim_receive(socket, room.baseAddress, room.count), isReading: true)
        }
    }

    package static func send(_ socket: Int32, _ bytes: ArraySlice<UInt8>) -> Transferred {
        unsafe bytes.withUnsafeBytes { buffer in
            Transferred(unsafe shim_send(socket, buffer.baseAddress, buffer.count), isReading: false)
        }
    }

    package static func send(_ socket: Int32, _ bytes: borrowing ByteBuilder) -> Transferred {
        unsafe bytes.withUnsafeBytes { buffer in
            Transferred(unsafe shim_send(socket, buffer.baseAddress, buffer.count), isReading: false)
        }
    }

    package static func localPort(of socket: Int32) throws(SystemError) -> UInt16 {
        UInt16(try SystemError.check("getsockname", shim_local_port(socket)))
    }

    package static func peerPort(of socket: Int32) throws(SystemError) -> UInt16 {
        UInt16(try SystemError.check("getpeername", shim_peer_port(socket)))
    }

    /// The numeric address of the other end.
    package static func peerHost(of socket: Int32) throws(SystemError) -> String {
        var text = [CChar](repeating: 0, count: Int(SHIM_ADDRESS_BYTES_MAX))
        try SystemError.check("getpeername", unsafe shim_peer_host(socket, &text))
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package static func setNoDelay(_ socket: Int32) { shim_no_delay(socket) }

    /// Bounds the kernel's memory for unsent bytes (Linux doubles the number).
    package static func setSendBuffer(_ socket: Int32, bytes: Int32) { shim_send_buffer(socket, bytes) }

    package static func setReceiveBuffer(_ socket: Int32, bytes: Int32) { shim_receive_buffer(socket, bytes) }

    /// Closing the socket will send RST and throw away what is not sent yet: wait for `unsentBytes` to be 0 first
    /// when the position of the reset matters.
    package static func resetOnClose(_ socket: Int32) { shim_linger_zero(socket) }

    /// Sends FIN; reading continues.
    package static func endSending(_ socket: Int32) { shim_shut_down_sending(socket) }

    /// Bytes that the peer has not acknowledged (Linux) or that have not left (macOS); nil for a dead socket.
    package static func unsentBytes(_ socket: Int32) -> Int? {
        let count = shim_unsent_bytes(socket)
        return count >= 0 ? Int(count) : nil
    }

    /// The error that is waiting on the socket, such as that of a failed connect; taken away by asking.
    package static func takeError(_ socket: Int32) -> Int32 {
        let code = shim_socket_error(socket)
        return code >= 0 ? code : -code
    }

    /// Whether the peer has closed its end, or the connection is dead; nothing is read to find out. Bytes that were not
    /// read may hide it.
    package static func isPeerGone(_ socket: Int32) -> Bool { shim_peer_is_gone(socket) != 0 }

    /// Whether the peer has reset a connection that this side has not closed. The error of a socket is given once, and whoever reads
    /// next sees an end; this can be asked for again.
    package static func isReset(_ socket: Int32) -> Bool { shim_is_reset(socket) != 0 }

    /// Takes a port on loopback that has no listener and cannot be taken by others while the descriptor is
    /// open: connecting to it is refused.
    package static func reserveClosedPort() throws(SystemError) -> Descriptor {
        Descriptor(owning: try SystemError.check("bind", unsafe shim_bind("127.0.0.1", 0)))
    }

    /// Closes a socket given out by `accept` or `Descriptor.release`.
    package static func close(_ socket: Int32) { shim_close(socket) }
}
