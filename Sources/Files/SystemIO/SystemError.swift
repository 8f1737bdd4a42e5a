import CSystem

/// A system call that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call, for example `bind`.
    package let call: String
    /// errno.
    package let code: Int32

    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(self.call): \(self.reason) (errno \(self.code))" }

    /// The system's words.
    package var reason: String { Self.text(of: self.code) }

    /// The system's words for an errno value.
    package static func text(of code: Int32) -> String {
        let room = 128
        let bytes = unsafe [CChar](unsafeUninitializedCapacity: room) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            unsafe shim_error_text(code, start, room)
            count = room
        }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Turns the shims' "value or minus errno" into a value or an error.
    @discardableResult
    package static func check<Value: SignedInteger>(_ call: String, _ result: Value) throws(SystemError)
        -> Value
    {
        guard result >= 0 else { throw SystemError(call: call, code: Int32(-result)) }
        return result
    }
}

/// The errno values that callers of this module decide by or throw.
package enum SystemCode {
    package static let wouldBlock = EAGAIN
    package static let interrupted = EINTR
    package static let descriptorsExhaustedInProcess = EMFILE
    package static let connectionRefused = ECONNREFUSED
    package static let connectionReset = ECONNRESET
    package static let brokenPipe = EPIPE
    package static let addressInUse = EADDRINUSE
    package static let timedOut = ETIMEDOUT
    package static let exists = EEXIST
    package static let invalid = EINVAL
    package static let inputOutput = EIO

    /// EMFILE or ENFILE.
    package static func isDescriptorShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }
}
