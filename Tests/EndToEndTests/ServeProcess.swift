import Foundation
import Testing

/// A server on a port of its choosing, `swiftwing-sim serve` unless another is named. It ends with its owner at the
/// latest.
final class ServeProcess: Sendable {
    struct NotListening: Error, CustomStringConvertible {
        var description: String
    }

    /// Enough for a debug build on a busy machine.
    private static let startSeconds = 20

    /// `http://127.0.0.1:PORT`
    let base: String
    private let child: Child
    private let ended: AsyncStream<Int32>

    var port: Int { Int(self.base.split(separator: ":").last ?? "") ?? 0 }

    var processID: Int32 { self.child.process.processIdentifier }

    private init(base: String, child: Child, ended: AsyncStream<Int32>) {
        self.base = base
        self.child = child
        self.ended = ended
    }

    deinit { self.child.signal(SIGTERM) }

    /// Serves while `body` runs, and checks that it ends as it should when it is ordered to.
    static func during<Result>(_ arguments: [String], _ body: (ServeProcess) async throws -> Result)
        async throws -> Result
    {
        let serve = try await self.start(arguments)
        let result = try await body(serve)
        let code = await serve.end()
        #expect(code == 0, "serve was told to end")
        return result
    }

    static func start(_ arguments: [String]) async throws -> ServeProcess {
        try await self.start(Binary.path, ["serve", "--port", "0"] + arguments)
    }

    /// Any program that says `listening http://127.0.0.1:PORT` and ends with SIGTERM.
    static func start(_ executable: URL, _ arguments: [String]) async throws -> ServeProcess {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = Subprocess.environment
        process.currentDirectoryURL = Package.root
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        let (ended, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = {
            end.yield($0.terminationStatus)
            end.finish()
        }
        let child = Child(process)
        try child.start()
        let late = DispatchWorkItem { child.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(self.startSeconds), execute: late)
        let line = await Self.firstLine(of: output.fileHandleForReading)
        late.cancel()
        let greeting = "listening "
        guard line.hasPrefix(greeting) else {
            child.signal(SIGTERM)
            throw NotListening(description: "the server did not say where it listens, but '\(line)'")
        }
        return ServeProcess(base: String(line.dropFirst(greeting.count)), child: child, ended: ended)
    }

    /// SIGKILL: what a machine that fails does to it.
    func kill() { self.child.signal(SIGKILL) }

    /// SIGTERM; its exit code. One that does not hear is killed.
    func end() async -> Int32 {
        let child = self.child
        child.signal(SIGTERM)
        let late = DispatchWorkItem { child.signal(SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(10), execute: late)
        defer { late.cancel() }
        for await code in self.ended { return code }
        return -1
    }

    /// Up to the first newline, or all there is.
    private static func firstLine(of handle: FileHandle) async -> String {
        let (pieces, source) = AsyncStream<Data>.makeStream()
        handle.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { source.finish() } else { source.yield(data) }
        }
        defer { handle.readabilityHandler = nil }
        var bytes = Data()
        for await piece in pieces {
            bytes += piece
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { bytes = bytes[..<end]; break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
