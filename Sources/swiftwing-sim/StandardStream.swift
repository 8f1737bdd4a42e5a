import EventLoop
import Foundation

/// Standard output or standard error. Text is written whole; the first failure is kept and ends the writing.
///
/// A reader that went away (`| head`) is no failure: it has seen what it wanted.
final class StandardStream: Sendable {
    static let output = StandardStream(STDOUT_FILENO)
    static let error = StandardStream(STDERR_FILENO)

    private struct State: Sendable {
        var isReaderGone = false
        var failure: Int32?
    }

    let descriptor: Int32
    private let state = Guarded(State())

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The errno value of the first write that failed.
    var failure: Int32? { self.state.withLock { $0.failure } }

    /// Whether nobody reads any more.
    var isReaderGone: Bool { self.state.withLock { $0.isReaderGone } }

    func write(_ text: String) {
        self.state.withLock { state in
            guard state.failure == nil, !state.isReaderGone else { return }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                switch DescriptorIO.write(self.descriptor, rest) {
                case .bytes(let count): rest = rest.dropFirst(count)
                // Whoever shares the terminal may have made it non-blocking.
                case .wouldBlock, .end: self.waitForRoom()
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

    private func waitForRoom() {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, -1)
    }

    /// Gives the numbers 0 to 2 that are closed to something that can neither be read nor written, so that no file which is
    /// opened later gets one of them. Called before anything is opened.
    static func occupy() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
