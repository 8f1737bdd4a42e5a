import Foundation
import Testing

extension SideBySide {
    /// The switches of `server` and a client that others wrote: Python's `requests` and `sseclient-py`.
    @Suite struct SwitchTests {
        @Test(arguments: [[], ["--proxy"]])
        func `a published client reads what serve sends with each switch`(options: [String]) async throws {
            let python = Package.root.appending(path: ".build/venv/bin/python")
            try #require(
                FileManager.default.isExecutableFile(atPath: python.path),
                "there is no published event-stream client: run `make test`, which installs it")
            let script = Package.root.appending(path: "Tests/Clients/switches.py").path
            let outcome = try await Subprocess.run(
                python, [script, "--binary", Binary.path.path] + options, seconds: 90)
            #expect(outcome.code == 0, "\(outcome)")
        }
    }
}
