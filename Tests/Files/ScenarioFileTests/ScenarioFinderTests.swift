import Foundation
import Testing

@testable import ScenarioFile

struct ScenarioFinderTests {
    private func withFolders<Result>(_ body: (_ current: String, _ shared: String) throws -> Result) throws
        -> Result
    {
        let root = FileManager.default.temporaryDirectory.appending(path: "finder-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for path in [
            "current/sub/deep.scenario", "current/mine.scenario", "shared/flaky-network.scenario",
            "shared/mine.scenario",
        ] {
            let url = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: url)
        }
        return try body(root.appending(path: "current").path, root.appending(path: "shared").path)
    }

    @Test func `a bare name is looked for in the current folder, then in the others`() throws {
        try withFolders { (current, shared) throws -> Void in
            func find(_ name: String) throws -> String {
                try ScenarioFinder.find(name, current: current, folders: [shared])
            }
            #expect(try find("mine") == "mine.scenario")
            #expect(try find("mine.scenario") == "mine.scenario")
            #expect(try find("flaky-network") == "\(shared)/flaky-network.scenario")
            #expect(try find("flaky-network.scenario") == "\(shared)/flaky-network.scenario")
            #expect(try find("sub/deep") == "sub/deep.scenario")
            #expect(try find("\(shared)/mine") == "\(shared)/mine.scenario")
        }
    }

    @Test func `what is not found names the locations and the nearest`() throws {
        try withFolders { (current, shared) throws -> Void in
            do throws(ScenarioFinder.NotFound) {
                _ = try ScenarioFinder.find("flaky-netwrok", current: current, folders: [shared])
                Issue.record("found")
            } catch {
                #expect(
                    error.text == """
                        no scenario `flaky-netwrok`
                            looked for flaky-netwrok
                            looked for flaky-netwrok.scenario
                            looked for \(shared)/flaky-netwrok
                            looked for \(shared)/flaky-netwrok.scenario
                        help: did you mean `flaky-network`?
                        """)
            }
            #expect(throws: ScenarioFinder.NotFound.self) {
                try ScenarioFinder.find("", current: current, folders: [shared])
            }
            #expect(throws: ScenarioFinder.NotFound.self) {
                try ScenarioFinder.find("sub", current: current, folders: ["/nowhere"])
            }
        }
    }

    @Test func `all scenarios of the folders are listed by folder and name`() throws {
        try withFolders { (current, shared) throws -> Void in
            #expect(
                ScenarioFinder.all(in: [shared, current, "/nowhere"]) == [
                    "\(shared)/flaky-network.scenario", "\(shared)/mine.scenario", "\(current)/mine.scenario",
                ])
        }
    }

    @Test func `a built-in scenario is found after every file of its name`() throws {
        try withFolders { (current, shared) throws -> Void in
            func find(_ name: String) throws -> String {
                try ScenarioFinder.find(name, current: current, folders: [shared, "built-in:"])
            }
            #expect(try find("flaky-network") == "\(shared)/flaky-network.scenario")
            #expect(try find("crowd") == "built-in:/crowd.scenario")
            #expect(try find("crowd.scenario") == "built-in:/crowd.scenario")
            #expect(try find("built-in:/flaky-network") == "built-in:/flaky-network.scenario")
            do throws(ScenarioFinder.NotFound) {
                _ = try ScenarioFinder.find("crwod", current: current, folders: ["built-in:"])
                Issue.record("found")
            } catch {
                #expect(error.paths == ["crwod", "crwod.scenario", "built-in:/crwod.scenario"])
                #expect(error.nearest == "crowd")
            }
        }
    }

    @Test func `a file names a built-in scenario, which names others beside it`() throws {
        try withFolders { (current, shared) throws -> Void in
            func find(_ name: String, beside path: String) throws -> String {
                try ScenarioFinder.find(
                    name, beside: path, current: current, folders: [shared, "built-in:"])
            }
            #expect(try find("crowd", beside: "sub/deep.scenario") == "built-in:/crowd.scenario")
            #expect(
                try find("flaky-network", beside: "mine.scenario") == "\(shared)/flaky-network.scenario")
            #expect(
                try find("flaky-network", beside: "built-in:/crowd.scenario")
                    == "built-in:/flaky-network.scenario")
            #expect(try find("mine", beside: "built-in:/crowd.scenario") == "\(current)/mine.scenario")
        }
    }

    @Test func `scenarios are those of the current folder, of the package, and of the program`() throws {
        let executable = packageFolder + "/.build/x86_64-unknown-linux-gnu/debug/swiftwing-sim"
        func folders(_ executable: String, _ current: String) -> [String] {
            ScenarioFinder.folders(executable: executable, current: current)
        }
        let package = "\(packageFolder)/Scenarios"
        #expect(folders(executable, "/nowhere") == [package, "built-in:"])
        #expect(folders(executable, packageFolder) == [package, "built-in:"])
        #expect(folders("/usr/nowhere/bin/x", "/nowhere") == ["built-in:"])
        try withFolders { (current, _) throws -> Void in
            let own = "\(current)/Scenarios"
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
            #expect(folders(executable, current) == [own, package, "built-in:"])
        }
    }
}
