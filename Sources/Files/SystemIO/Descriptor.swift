import CSystem

/// A file descriptor with one owner, closed with it.
package struct Descriptor: ~Copyable, Sendable {
    package let number: Int32

    /// Takes ownership.
    package init(owning number: Int32) { self.number = number }

    deinit { shim_close(self.number) }

    /// Returns the descriptor and gives up ownership; the caller closes it.
    package consuming func release() -> Int32 {
        let number = self.number
        discard self
        return number
    }

    /// Takes ownership of a descriptor that was inherited by its number, and keeps it from being inherited further.
    package static func adopting(_ number: Int32) throws(SystemError) -> Descriptor {
        try SystemError.check("fcntl", shim_close_on_exec(number))
        return Descriptor(owning: number)
    }
}

/// Both ends of a pipe, close-on-exec.
package struct Pipe: ~Copyable {
    package var reading: Descriptor
    package var writing: Descriptor

    /// Blocking ends; see `DescriptorIO.setNonblocking`.
    package init() throws(SystemError) {
        var ends: (Int32, Int32) = (-1, -1)
        try SystemError.check("pipe", unsafe shim_pipe(&ends.0, &ends.1))
        self.reading = Descriptor(owning: ends.0)
        self.writing = Descriptor(owning: ends.1)
    }

    /// Keeps one end and closes the other.
    package consuming func takeReading() -> Descriptor { self.reading }
    package consuming func takeWriting() -> Descriptor { self.writing }

    /// Returns both ends and gives up ownership; the caller closes them.
    package consuming func release() -> (reading: Int32, writing: Int32) {
        (self.reading.release(), self.writing.release())
    }
}

/// The result of a read or write of a non-blocking descriptor.
package enum Transferred: Hashable, Sendable {
    /// At least one byte was transferred.
    case bytes(Int)
    /// Nothing was transferred: wait for readiness.
    case wouldBlock
    /// End of file (reading only).
    case end
    /// errno.
    case failed(Int32)

    package init(_ result: Int, isReading: Bool) {
        switch result {
        case 0 where isReading: self = .end
        case 0...: self = .bytes(result)
        default:
            let code = Int32(-result)
            self = code == EAGAIN || code == EWOULDBLOCK ? .wouldBlock : .failed(code)
        }
    }
}

/// Reading and writing of plain descriptors (pipes, files). Interrupted calls are repeated.
package enum DescriptorIO {
    package static func setNonblocking(_ descriptor: Int32, _ isOn: Bool) throws(SystemError) {
        try SystemError.check("fcntl", shim_set_nonblocking(descriptor, isOn ? 1 : 0))
    }

    /// Appends at most `limit` bytes.
    package static func read(_ descriptor: Int32, appendingTo bytes: inout [UInt8], limit: Int) -> Transferred
    {
        unsafe Self.append(&bytes, limit) { unsafe shim_read(descriptor, $0, $1) }
    }

    package static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Transferred {
        unsafe bytes.withUnsafeBytes { buffer in
            Transferred(unsafe shim_write(descriptor, buffer.baseAddress, buffer.count), isReading: false)
        }
    }

    package static func waitUntilWritable(_ descriptor: Int32) { shim_wait_until_writable(descriptor) }

    /// Lets `fill` append up to `limit` bytes.
    package static func append(
        _ bytes: inout [UInt8], _ limit: Int, _ fill: (UnsafeMutableRawPointer, Int) -> Int
    ) -> Transferred {
        precondition(limit > 0, "a read needs room")
        var result = 0
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            result = unsafe fill(UnsafeMutableRawPointer(start), limit)
            count = max(0, result)
        }
        if bytes.isEmpty { bytes = chunk } else { bytes += chunk }
        return Transferred(result, isReading: true)
    }
}
