import Foundation
import Testing

extension SideBySide {
    @Suite struct KilledPhonesTests {
        @Test func `a fleet that is killed again and again loses nothing and adds nothing twice`()
            async throws
        {
            let figures = try await KilledFleet(seed: 20_261_121).run(kills: 5)
            #expect(figures.kills == 5)
            #expect(figures.captured > 0)
        }
    }
}

/// The same for as many kills as the environment asks for: `KILLED_PHONES=50`.
@Suite(.serialized, .timeLimit(.minutes(15))) struct KilledPhonesAtLengthTests {
    private static let kills = ProcessInfo.processInfo.environment["KILLED_PHONES"].flatMap { Int($0) }

    @Test(.enabled(if: Self.kills != nil))
    func `a fleet that is killed as often as one likes loses nothing and adds nothing twice`() async throws {
        let figures = try await KilledFleet(seed: 7).run(kills: try #require(Self.kills))
        print(figures)
    }
}

/// A fleet on one state folder whose whole process is killed at drawn times and started again, until nothing
/// is left to do.
private struct KilledFleet {
    struct Figures {
        var kills = 0
        /// Scans that were durable, and their outcomes.
        var captured = 0
        var completed = 0
        var books = 0
        /// Runs after the last kill, until nothing waited.
        var lastRuns = 0
        /// Seconds from the start of each run to its kill.
        var moments: [Double] = []
    }

    private static let booksPerScan = 3
    private static let scenario = """
        scenario: 1
        name: killed
        description: Every run of it is killed.
        seed: 11
        fleet:
          readers:
            phones: 6
            profile: contract
            scans: 6
            arrivals: 8/s
            photos: shelves
        server:
          books: \(booksPerScan)..\(booksPerScan)
          job-time: 200ms..900ms
          rate-limit: off
        drain: 15s
        slo:
          scans.lost: count == 0
        """

    let seed: UInt64

    /// Ends when every scan that was ever durable is in the library, whole and once.
    func run(kills: Int) async throws -> Figures {
        let scratch = try Scratch()
        let scenario = try scratch.file("killed.scenario", Data(Self.scenario.utf8)).path
        let state = Storage(folder: scratch.folder.appending(path: "state"))
        var moments = SplitMix(state: self.seed)
        var figures = Figures()
        var queued: Set<ScanName> = []
        for _ in 0..<kills {
            let run = try RunProcess([scenario, "--state", state.folder.path])
            let moment = Double(moments.next() % 3_400 + 200) / 1_000
            try await Task.sleep(for: .seconds(moment))
            run.signal(SIGKILL)
            let end = try await run.end(seconds: 10)
            try #require(end.code == SIGKILL, "it ended by itself before \(moment) s: \(end)")
            figures.kills += 1
            figures.moments.append(moment)
            for line in try run.report.log() where line.isPhone("queued") {
                queued.insert(ScanName(d: line.device, scan: line.scan ?? 0))
            }
            // At any time what is on disk is sound.
            try state.check(booksPerScan: Self.booksPerScan)
        }
        var waiting = try state.contents().unsettled.count
        // The first of them also makes the DELETEs that are all that is left of a completed scan.
        while figures.lastRuns == 0 || (waiting > 0 && figures.lastRuns < 4) {
            figures.lastRuns += 1
            let last = try RunProcess([scenario, "--state", state.folder.path, "--duration", "1ms"])
            let end = try await last.end(seconds: 30)
            #expect(end.hasPassed, "\(end)")
            let summary = try last.report.summary()
            #expect(summary.scans.captured == 0)
            #expect(summary.scans.restored == waiting, "\(summary.scans)")
            #expect(summary.scans.isConserved && summary.scans.lost == 0 && summary.scans.refused == 0)
            #expect(summary.books.duplicated == 0)
            #expect(summary.broken.isEmpty)
            waiting = try state.contents().unsettled.count
            #expect(summary.scans.waiting == waiting)
        }
        try state.check(booksPerScan: Self.booksPerScan)
        let contents = try state.contents()
        #expect(contents.unsettled.isEmpty)
        #expect(queued.isSubset(of: contents.recorded), "what was seen in the queue was durable")
        #expect(Set(contents.settled) == contents.recorded)
        figures.captured = contents.recorded.count
        figures.completed = contents.settled.count
        figures.books = contents.books.count
        return figures
    }
}

private struct ScanName: Hashable {
    var d, scan: Int
}

/// The state folder, read by another hand than the program's.
private struct Storage {
    struct Contents {
        /// Every scan that ever had a record, and of these those whose record is still there.
        var recorded: Set<ScanName> = []
        var unsettled: Set<ScanName> = []
        /// In their order; a scan that is settled twice is there twice.
        var settled: [ScanName] = []
        var outcomes: Set<String> = []
        var books: [BookLine] = []
    }

    struct BookLine: Decodable, Hashable {
        var d, scan, ordinal: Int
    }

    private struct ScanLine: Decodable {
        struct Record: Decodable {
            var scan: Int
            var completed: Bool
        }

        var d: Int
        var scan: Int?
        var put: Record?
        var settled: String?
    }

    let folder: URL

    /// A line that a kill left unfinished is none.
    private func lines<Line: Decodable>(_ kind: String, _ type: Line.Type) throws -> [Line] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: self.folder.path)) ?? []).sorted()
        return try names.filter { $0.hasPrefix(kind) && $0.hasSuffix(".journal") }.flatMap { name in
            let data = try Data(contentsOf: self.folder.appending(path: name))
            let end = data.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            return try data[..<end].split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(type, from: $0)
            }
        }
    }

    func contents() throws -> Contents {
        var contents = Contents()
        contents.books = try self.lines("library", BookLine.self)
        for line in try self.lines("scans", ScanLine.self) {
            if let record = line.put {
                let name = ScanName(d: line.d, scan: record.scan)
                contents.recorded.insert(name)
                // A completed scan with only the DELETE left does not wait.
                if record.completed {
                    contents.unsettled.remove(name)
                } else {
                    contents.unsettled.insert(name)
                }
            } else if let scan = line.scan, let outcome = line.settled {
                contents.unsettled.remove(ScanName(d: line.d, scan: scan))
                contents.settled.append(ScanName(d: line.d, scan: scan))
                contents.outcomes.insert(outcome)
            }
        }
        return contents
    }

    /// What must be true of it at every time.
    func check(booksPerScan: Int) throws {
        let contents = try self.contents()
        #expect(Set(contents.books).count == contents.books.count, "a book is in a library twice")
        #expect(Set(contents.settled).count == contents.settled.count, "a scan was settled twice")
        #expect(contents.outcomes.isSubset(of: ["completed"]))
        let held = Dictionary(grouping: contents.books) { ScanName(d: $0.d, scan: $0.scan) }
        for scan in contents.settled {
            #expect(held[scan]?.map(\.ordinal).sorted() == Array(0..<booksPerScan), "\(scan) is not whole")
        }
    }
}

/// Drawn times that are the same each time (SplitMix64).
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
