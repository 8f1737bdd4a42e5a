import EventLoop
import Foundation
import SystemIO

/// Standard output or standard error. Text is written whole; the first failure is kept and ends the writing.
///
/// A reader that went away (`| head`) is not a failure: it has seen what it wanted.
package final class StandardStream: Sendable {
    package static let output = StandardStream(STDOUT_FILENO)
    package static let error = StandardStream(STDERR_FILENO)

    private struct State: Sendable {
        var isReaderGone = false
        var failure: Int32?
    }

    let descriptor: Int32
    private let state = Guarded(State())

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The errno value of the first write that failed.
    package var failure: Int32? { self.state.withLock { $0.failure } }

    /// Whether the reader has gone away.
    package var isReaderGone: Bool { self.state.withLock { $0.isReaderGone } }

    package func write(_ text: String) {
        self.state.withLock { state in
            guard state.failure == nil, !state.isReaderGone else { return }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                switch DescriptorIO.write(self.descriptor, rest) {
                case .bytes(let count): rest = rest.dropFirst(count)
                // Whoever shares the terminal may have made it non-blocking.
                case .wouldBlock, .end: DescriptorIO.waitUntilWritable(self.descriptor)
                case .failed(EPIPE):
                    state.isReaderGone = true
                    return
                case .failed(let code):
                    state.failure = code
                    return
                }
            }
        }
    }
}
