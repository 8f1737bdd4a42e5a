import Foundation
import Testing

/// `swiftwing-sim run` while it runs. It ends with its owner at the latest, and its backend with it.
final class RunProcess: Sendable {
    /// For what a run writes, and for its state unless the test names another; temporary folders come here, too.
    let folder: Scratch
    private let child: Child
    private let ended: AsyncStream<Int32>
    private let output, complaint: URL

    var number: Int32 { self.child.process.processIdentifier }
    var report: RunReport { RunReport(folder: self.folder.folder.appending(path: "report")) }

    init(_ arguments: [String], command: String = "run") throws {
        self.folder = try Scratch()
        self.output = try self.folder.file("output")
        self.complaint = try self.folder.file("complaint")
        // The smallest of the photographs alone: pixels are most of a run's work, and not what is tested here.
        let photos = self.folder.folder.appending(path: "Images/shelves")
        try FileManager.default.createDirectory(at: photos, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Package.photo, to: photos.appending(path: "shelf.jpg"))
        let process = Process()
        process.executableURL = Binary.path
        process.arguments =
            [command] + arguments + [
                "--output", self.folder.folder.appending(path: "report").path, "--quiet", "--no-color",
            ]
        process.environment = Subprocess.environment.merging(["TMPDIR": self.folder.folder.path]) { $1 }
        process.currentDirectoryURL = self.folder.folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: self.output)
        process.standardError = try FileHandle(forWritingTo: self.complaint)
        let (ended, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = {
            end.yield($0.terminationStatus)
            end.finish()
        }
        self.child = Child(process)
        self.ended = ended
        try self.child.start()
    }

    deinit { self.child.signal(SIGKILL) }

    func signal(_ signal: Int32) { self.child.signal(signal) }

    /// Waits for its end, which is ours after so many seconds.
    func end(seconds: Int) async throws -> Outcome {
        let child = self.child
        let late = DispatchWorkItem { child.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds), execute: late)
        var code: Int32 = -1
        for await status in self.ended { code = status }
        late.cancel()
        return Outcome(
            code: code, output: String(decoding: try Data(contentsOf: self.output), as: UTF8.self),
            complaint: String(decoding: try Data(contentsOf: self.complaint), as: UTF8.self))
    }

    /// Where its page is, once it has said so. Without the token, so that nothing can be controlled.
    func dashboard() async throws -> String {
        let url = try await self.controlURL()
        return url.firstIndex(of: "?").map { String(url[..<$0]) } ?? url
    }

    /// The address of its page with the token.
    func controlURL() async throws -> String {
        let greeting = "dashboard: "
        var url: String?
        _ = try await Patience.until(seconds: 30) {
            let text = String(decoding: try Data(contentsOf: self.complaint), as: UTF8.self)
            url = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
                .first { $0.hasPrefix(greeting) }.map { String($0.dropFirst(greeting.count)) }
            return url != nil
        }
        return try #require(url, "the run never said where its page is")
    }

    /// Waits until the log of the run shows what is meant. The log comes to the file once a second.
    func waitForLog(_ what: String, _ shows: (LogLine) -> Bool) async throws {
        let isShown = try await Patience.until(seconds: 30) { try self.report.log().contains(where: shows) }
        try #require(isShown, "the log never showed \(what)")
    }

    /// Waits until the program answers signals itself: signals during loading are not answered.
    func waitForFirstAct() async throws {
        #if os(Linux)
            let interrupt: UInt64 = 1 << UInt64(SIGINT - 1)
            let isWatching = try await Patience.until(seconds: 30, every: .milliseconds(1)) {
                let status = try String(contentsOfFile: "/proc/\(self.number)/status", encoding: .utf8)
                let blocked = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
                let mask = blocked?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
                return mask & interrupt != 0
            }
            try #require(isWatching, "the program never came to its first act")
        #else
            try await Task.sleep(for: .milliseconds(500))
        #endif
    }

    /// What the run has left in addition to its report: its temporary state, if any.
    var temporaryFolders: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: self.folder.folder.path)) ?? [])
            .filter { $0.hasPrefix("swiftwing-sim.") }
    }

    /// Waits until the process of the backend is there.
    func waitForBackend() async throws {
        let isThere = try await Patience.until(seconds: 30) {
            try await ProcessLine.all().contains { $0.parent == self.number }
        }
        try #require(isThere, "the run never started its backend")
    }

    /// The process of the backend, while this one is its parent.
    func backendProcess() async throws -> ProcessLine {
        let children = try await ProcessLine.all().filter { $0.parent == self.number }
        try #require(children.count == 1, "a run has one child, its backend: \(children)")
        try #require(children[0].command.contains(" serve --embedded "))
        return children[0]
    }
}

/// A process as `ps` shows it.
struct ProcessLine {
    var number, parent: Int32
    var state, command: String

    static func all() async throws -> [ProcessLine] {
        let list = try await Subprocess.run(
            URL(filePath: "/usr/bin/env"), ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,command="])
        try #require(list.code == 0, "ps: \(list.complaint)")
        return list.output.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true)
            guard words.count == 4, let number = Int32(words[0]), let parent = Int32(words[1]) else {
                return nil
            }
            return ProcessLine(
                number: number, parent: parent, state: String(words[2]), command: String(words[3]))
        }
    }

    /// Whether it has not ended. A process that was not waited for has ended.
    func isAlive() async throws -> Bool {
        try await Self.all().contains {
            $0.number == self.number && $0.command == self.command && !$0.state.hasPrefix("Z")
        }
    }
}

/// Waiting for something that happens elsewhere: looked for again and again, up to a time that is only there so that a
/// failure ends.
enum Patience {
    static func until(
        seconds: Int, every pause: Duration = .milliseconds(50), _ holds: () async throws -> Bool
    ) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while !(try await holds()) {
            guard ContinuousClock.now < end else { return false }
            try await Task.sleep(for: pause)
        }
        return true
    }
}
