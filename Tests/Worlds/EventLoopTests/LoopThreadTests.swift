import EventLoop
import SystemIO
import Testing

@Suite struct LoopThreadTests {
    private static func text(of path: String) -> String? {
        (try? File.contents(of: path, bytesMax: 1 << 16)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The slice of the calling thread in nanoseconds; nil where the kernel does not show it.
    private static func slice() -> Int? {
        let lines = Self.text(of: "/proc/thread-self/sched")?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("se.slice") }
        return line.flatMap { Int($0.split(separator: " ").last ?? "") }
    }

    /// Before Linux 6.12 a thread cannot choose it.
    private static var canChoose: Bool {
        let release = Self.text(of: "/proc/sys/kernel/osrelease")?.split { !$0.isNumber }.prefix(2)
        let numbers = release?.compactMap { Int($0) } ?? []
        return Self.slice() != nil && numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 12)
    }

    @Test(.enabled(if: Self.canChoose))
    func `a thread that wakes promptly works for a short time, and no other does`() throws {
        let thread = try LoopThread<Int?>.start(name: "prompt") {
            CurrentThread.wakePromptly()
            return Self.slice()
        }
        #expect(thread.join() == 100_000)
        #expect(try #require(Self.slice()) > 100_000)
    }
}
