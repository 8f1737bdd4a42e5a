import Foundation
package import RunJudge
import VirtualWorld

/// A replay of one plan in two processes whose hash seeds differ, which reveals a dependence on the order of
/// a set or dictionary.
package struct ReplayCheck {
    let path: String
    let hasCanary: Bool
    let console: Console

    package init(path: String, hasCanary: Bool, console: Console) {
        self.path = path
        self.hasCanary = hasCanary
        self.console = console
    }

    private struct Child {
        var lines: [Substring]
        var complaint: String
        var code: Int32
    }

    package func run() throws -> ExitCode {
        let (first, second) = try self.both(["--chain"])
        for child in [first, second] where child.code != 0 {
            throw CommandFailure(
                .internalError, "a process that replayed the plan failed: \(child.complaint)")
        }
        guard first.lines != second.lines else {
            let end = (first.lines.last ?? "").split(separator: " ")
            self.console.out(
                "identical in two processes with different hash seeds: \(end.first ?? "0") events, digest \(end.last ?? "")"
            )
            return .success
        }
        let common = zip(first.lines, second.lines).prefix { $0 == $1 }.count
        let from = common * Chain.interval
        let (left, right) = try self.both(["--events", "\(from)..\(from + Chain.interval - 1)"])
        self.printDifference(left.lines, right.lines, from: from)
        return .internalError
    }

    private func printDifference(_ left: [Substring], _ right: [Substring], from: Int) {
        self.console.out("NOT identical in two processes with different hash seeds")
        let same = zip(left, right).prefix { $0 == $1 }.count
        guard same < max(left.count, right.count) else {
            self.console.out(
                "  the first difference was in events \(from) to \(from + Chain.interval - 1), but it did not occur again; run --verify again"
            )
            return
        }
        for (name, lines) in [("first", left), ("second", right)] {
            guard same < lines.count else {
                self.console.out("  \(name) process: the run has ended")
                continue
            }
            let fields = lines[same].split(separator: "\t")
            let (number, digest) = (fields.first ?? "", fields.dropFirst().first ?? "")
            self.console.out("  \(name) process, event \(number) (digest \(digest)):")
            for field in fields.dropFirst(2) { self.console.out("    \(field)") }
        }
    }

    /// Runs both processes: one with the usual hash seed, one with its own.
    private func both(_ words: [String]) throws -> (Child, Child) {
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_DETERMINISTIC_HASHING"] = nil
        let random = try self.child(words, environment)
        environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
        return (try self.child(words, environment), random)
    }

    private func child(_ words: [String], _ environment: [String: String]) throws -> Child {
        let process = Process()
        process.executableURL = URL(filePath: try ProgramFile.path())
        process.arguments = ["replay", self.path] + words + (self.hasCanary ? ["--canary"] : [])
        process.environment = environment
        let (output, complaint) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = complaint
        try process.run()
        // What it complains of is short; what it says may fill a pipe.
        let said = output.fileHandleForReading.readDataToEndOfFile()
        let complained = complaint.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Child(
            lines: String(decoding: said, as: UTF8.self).split(separator: "\n"),
            complaint: String(decoding: complained, as: UTF8.self), code: process.terminationStatus)
    }
}
