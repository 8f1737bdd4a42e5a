import Foundation
import Synchronization

/// What a process that ended left behind.
struct Outcome: Equatable, Sendable {
    var code: Int32
    var output: String
    var complaint: String

    /// Whether a live run passed, or would have on a quiet machine: one that ends with 98 says that its timers or captures were late.
    var hasPassed: Bool {
        let words = self.output.replacing(#/\s+/#, with: " ")
        let isLate = ["too busy for valid measurements", "captures started more than 1 s late"].contains {
            words.contains($0)
        }
        return self.code == 0 || self.code == 98 && isLate
    }
}

/// Runs a process to its end without holding a thread.
enum Subprocess {
    struct TooLong: Error, CustomStringConvertible {
        var command: String
        var seconds: Int
        var soFar: Outcome

        var description: String { "`\(self.command)` did not end within \(self.seconds) s: \(self.soFar)" }
    }

    /// What a started process sees of ours: nothing that decides about colors.
    static let environment: [String: String] = {
        var environment = ProcessInfo.processInfo.environment
        for name in ["TERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI"] { environment[name] = nil }
        return environment
    }()

    /// Output goes to files: a pipe would stay open as long as any grandchild has it.
    static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String] = Self.environment,
        input: Data = Data(), folder: URL = Package.root, seconds: Int = 20
    ) async throws -> Outcome {
        let scratch = try Scratch()
        let (output, complaint) = (try scratch.file("output"), try scratch.file("complaint"))
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = folder
        process.standardInput = try FileHandle(forReadingFrom: try scratch.file("input", input))
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: complaint)
        let isLate = try await self.end(of: process, seconds: seconds)
        let outcome = Outcome(
            code: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            complaint: String(decoding: try Data(contentsOf: complaint), as: UTF8.self))
        guard !isLate else {
            let command = ([executable.lastPathComponent] + arguments).joined(separator: " ")
            throw TooLong(command: command, seconds: seconds, soFar: outcome)
        }
        return outcome
    }

    /// Starts it and waits for its end; true when that end was ours, at the deadline.
    private static func end(of process: Process, seconds: Int) async throws -> Bool {
        let child = Child(process)
        let isLate = Box(false)
        let deadline = DispatchWorkItem {
            isLate.value.withLock { $0 = true }
            child.signal(SIGKILL)
        }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            child.process.terminationHandler = { _ in continuation.resume() }
            do {
                try child.start()
                DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds), execute: deadline)
            } catch {
                child.process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        deadline.cancel()
        return isLate.value.withLock { $0 }
    }
}

/// A process that we started, to be ended by its number and only while it lives.
struct Child: @unchecked Sendable {
    private static let starts = Mutex(())

    let process: Process

    init(_ process: Process) { self.process = process }

    /// Starts it while no other process is started. On Linux, Foundation considers a process ended when it
    /// closes its end of a socket pair. A process that another thread starts at that time may inherit this
    /// end and keep it open.
    func start() throws { try Self.starts.withLock { _ in try self.process.run() } }

    /// Copies a program while no process is started. One that is started meanwhile would have the copy open for writing for
    /// a moment, in which the copy cannot be executed (ETXTBSY).
    static func copy(_ program: URL, to place: URL) throws {
        try Self.starts.withLock { _ in try FileManager.default.copyItem(at: program, to: place) }
    }

    func signal(_ signal: Int32) {
        if self.process.isRunning { kill(self.process.processIdentifier, signal) }
    }
}

final class Box<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }
}

/// A folder that goes with its owner.
final class Scratch: Sendable {
    let folder: URL

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(
            path: "swiftwing-sim-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: self.folder) }

    func file(_ name: String, _ content: Data = Data()) throws -> URL {
        let file = self.folder.appending(path: name)
        try content.write(to: file)
        return file
    }
}
