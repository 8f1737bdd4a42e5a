import Backend
import Foundation
import Plan
import SimBase
import Testing

@testable import ScenarioFile

/// `dialect: {replay: PATH}`.
struct CaptureReaderTests {
    private static let stream =
        "id: 1-progress\nevent: progress\ndata: {\"jobId\":\"captured-job\",\"message\":\"${HOME} “\u{2028}\"}\n\n"
        + "id: 250-completed\nevent: completed\ndata: {\"books\":[{\"title\":\"T\",\"author\":\"A\"}]}\n\n"
    private static let scenario = """
        scenario: 1
        fleet: {a: {phones: 2, arrivals: 1/s}}
        server: {dialect: {replay: captures/a.sse}, ping: 2s}
        """

    /// Files by their paths.
    private func library(_ files: [String: [UInt8]]) -> ScenarioLibrary {
        .files(current: "/files", folders: []) { files[$0] }
    }

    private func load(
        _ text: String = Self.scenario, path: String = "suite/x.scenario",
        files: [String: [UInt8]] = ["/files/suite/captures/a.sse": Array(Self.stream.utf8)],
        set overrides: [String] = []
    ) throws(ScenarioErrors) -> Scenario {
        try ScenarioLoader.load(
            path: path, bytes: Array(text.utf8), overrides: overrides, environment: ["HOME": "wrong"],
            library: self.library(files))
    }

    private func errors(
        _ text: String = Self.scenario,
        files: [String: [UInt8]] = ["/files/suite/captures/a.sse": Array(Self.stream.utf8)],
        set overrides: [String] = []
    ) -> [String] {
        do throws(ScenarioErrors) {
            _ = try self.load(text, files: files, set: overrides)
            return []
        } catch {
            return error.diagnostics.map { "\($0.file):\($0.line):\($0.column): \($0.message)" }
        }
    }

    @Test func `the path is relative to the scenario, and no text of the stream is a variable`() throws {
        let server = try self.load().server
        let capture = try #require(server.backend.dialect.capture)
        #expect(capture.name == "captures/a.sse")
        #expect(capture.text == Self.stream)
        #expect(server.books == 1...1)
        #expect(server.backend.jobTime == .milliseconds(249)...(.milliseconds(249)))
        #expect(server.backend.ping == .seconds(2))
    }

    @Test func `a resolved scenario and a plan need no file`() throws {
        let scenario = try self.load()
        let text = ScenarioWriter.resolved(scenario)
        let again = try ScenarioLoader.load(path: "x.scenario", text: text, overrides: [], environment: [:])
        #expect(again.server == scenario.server)
        let plan = SavedPlan(
            tool: "test", note: "", scenario: scenario, photos: [[1_000]], captures: nil, settle: nil,
            wallClockAtZero: 0, splits: true, heapMax: 1_000, eventsPerInstantMax: 1_000, outcome: nil)
        let read = try PlanLoader.load(path: "a.plan.json", bytes: Array(PlanWriter.text(plan).utf8))
        #expect(read.scenario.server == scenario.server)
    }

    @Test func `a scenario inherits the stream of the one that it extends, whose folder counts`() throws {
        let files: [String: [UInt8]] = [
            "/files/suite/captures/a.sse": Array(Self.stream.utf8),
            "/files/suite/base.scenario": Array(Self.scenario.utf8),
        ]
        let inherited = try ScenarioLoader.load(
            path: "top.scenario", bytes: Array("extends: suite/base.scenario".utf8), overrides: [],
            environment: [:],
            library: ScenarioLibrary(
                find: { name, _ in
                    ScenarioLibrary.Found(path: name, identity: name, bytes: files["/files/\(name)"] ?? [])
                },
                capture: { name, path throws(ScenarioLibrary.Missing) in
                    try self.library(files).capture(name, of: path)
                }, identity: { $0 }))
        #expect(inherited.server.backend.dialect.capture?.text == Self.stream)
    }

    @Test func `what is wrong with a stream has its place in the file`() {
        #expect(
            self.errors(files: [:]) == [
                "suite/x.scenario:3:28: cannot read the captured stream suite/captures/a.sse"
            ])
        let path = "/files/suite/captures/a.sse"
        #expect(
            self.errors(files: [path: Array("id: 1-a\n\nid: x\nevent: progress\ndata: {}\n\n".utf8)]) == [
                "captures/a.sse:3:1: an event without an id of the form `1770112148771-progress`"
            ])
        #expect(
            self.errors(files: [path: Array("id: 1-a\ndata: ".utf8) + [0xFF, 0x0A]]) == [
                "suite/captures/a.sse:2:1: the text is not valid UTF-8"
            ])
        #expect(
            self.errors(files: [path: [UInt8](repeating: 0x61, count: Capture.bytesMax + 1)]) == [
                "suite/captures/a.sse:1:1: the captured stream is larger than 256KiB"
            ])
    }

    @Test func `the books and the keys of a dialect are checked`() {
        #expect(
            self.errors(Self.scenario.replacing("ping: 2s", with: "books: 3")) == [
                "suite/x.scenario:3:45: the books are the 1 of the captured stream"
            ])
        #expect(
            self.errors(Self.scenario.replacing("replay:", with: "record:")) == [
                "suite/x.scenario:3:19: a dialect that is a map needs `replay`",
                "suite/x.scenario:3:20: unknown key `record` in a dialect",
            ])
    }

    @Test func `an option names another stream`() throws {
        let other = Array(Self.stream.replacing("250-", with: "900-").utf8)
        let files = [
            "/files/suite/captures/a.sse": Array(Self.stream.utf8), "/files/suite/b.sse": other,
        ]
        let server = try self.load(files: files, set: ["server.dialect.replay=b.sse"]).server
        #expect(server.backend.dialect.capture?.jobTime == .milliseconds(899))
    }
}
