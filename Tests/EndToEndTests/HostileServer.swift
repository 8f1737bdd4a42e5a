import Foundation

/// `Tools/hostile.py`: a backend that keeps no contract.
struct HostileServer {
    enum Mode: String, CaseIterable {
        case html
        case page
        case redirect
        case silent
        case close
        case http2Only = "http2-only"
        case wrongShape = "wrong-shape"
        case endlessLine = "endless-line"
        case huge
        case unavailable
        case unauthorized
        case hanging
    }

    let process: ServeProcess
    private let scratch: Scratch
    private let log: URL

    init(_ mode: Mode) async throws {
        self.scratch = try Scratch()
        self.log = try self.scratch.file("log")
        let script = Package.tests.appending(path: "Tools/hostile.py").path
        self.process = try await ServeProcess.start(
            URL(filePath: "/usr/bin/env"), ["python3", script, mode.rawValue, self.log.path])
    }

    /// The method, the path and the device id of every request.
    func requests() throws -> [[String]] {
        String(decoding: try Data(contentsOf: self.log), as: UTF8.self).split(separator: "\n")
            .map { $0.split(separator: " ").map(String.init) }
    }
}
