import SimBase

/// A message of a worker to its Locust master, or to the plugin in `Distributed/locustfile.py`.
package enum WorkerMessage: Hashable, Sendable {
    case clientReady
    case spawning
    case spawningComplete([SpawnOrder.Count])
    case clientStopped
    case heartbeat(WorkerState, ProcessUsage)
    case stats(StatsReport)
    /// Shown on Locust's page.
    case exception(String)
    case quit
    /// Asks for the scenario.
    case hello(tool: String, phonesMax: Int)
    /// Asks for so many more phones.
    case lease(test: String, [SpawnOrder.Count])
    /// Phones that have stopped.
    case returned(test: String, [ClosedPhone])
    case evidence(EvidencePart)
    /// The last message about the evidence of a test.
    case evidenceComplete(EvidenceList)
}

/// The state of a worker in its heartbeats, by Locust's names.
package enum WorkerState: String, Hashable, Sendable {
    case ready, spawning, running
}

package struct ProcessUsage: Hashable, Sendable {
    /// In billionths of a percent of one processor.
    package var processorPercent: Int64
    package var residentBytes: Int64

    package init(processorPercent: Int64, residentBytes: Int64) {
        self.processorPercent = processorPercent
        self.residentBytes = residentBytes
    }
}

/// A piece of a file of a test's evidence.
package struct EvidencePart: Hashable, Sendable {
    /// Messages stay small, so that heartbeats between them are not late.
    package static let bytesMax = 256 << 10

    package var test: String
    package var file: String
    package var offset: Int
    package var bytes: [UInt8]

    package init(test: String, file: String, offset: Int, bytes: [UInt8]) {
        self.test = test
        self.file = file
        self.offset = offset
        self.bytes = bytes
    }
}

/// What a test's evidence consists of, so that the master knows that it has everything.
package struct EvidenceList: Hashable, Sendable {
    package struct File: Hashable, Sendable {
        package var name: String
        package var size: Int

        package init(name: String, size: Int) {
            self.name = name
            self.size = size
        }
    }

    package var test: String
    package var files: [File]
    /// What the run of this worker alone would end with.
    package var code: Int32
    /// The folder of the run on the worker's machine.
    package var folder: String

    package init(test: String, files: [File], code: Int32, folder: String) {
        self.test = test
        self.files = files
        self.code = code
        self.folder = folder
    }
}

// MARK: Writing

extension WorkerMessage {
    /// The message of a worker with this name: type, data and name.
    package func value(from worker: String) -> MessageValue {
        let (type, data) = self.typeAndData
        return .list([.text(type), data, .text(worker)])
    }

    private var typeAndData: (String, MessageValue) {
        switch self {
        // Not the version of a Locust: a worker that is none.
        case .clientReady: ("client_ready", .integer(-1))
        case .spawning: ("spawning", .null)
        case .spawningComplete(let counts):
            ("spawning_complete", .map(counts.members))
        case .clientStopped: ("client_stopped", .null)
        case .heartbeat(let state, let usage):
            (
                "heartbeat",
                .members(
                    ("state", .text(state.rawValue)),
                    ("current_cpu_usage", .decimal(billionths: usage.processorPercent)),
                    ("current_memory_usage", .integer(usage.residentBytes)))
            )
        case .stats(let report): ("stats", report.value)
        case .exception(let text):
            ("exception", .members(("msg", .text(text)), ("traceback", .text(""))))
        case .quit: ("quit", .null)
        case .hello(let tool, let phonesMax):
            (
                "swiftwing.hello",
                .members(("tool", .text(tool)), ("phones_max", .integer(Int64(phonesMax))))
            )
        case .lease(let test, let counts):
            ("swiftwing.lease", .members(("test", .text(test)), ("groups", counts.value)))
        case .returned(let test, let phones):
            (
                "swiftwing.returned",
                .members(
                    ("test", .text(test)),
                    (
                        "phones",
                        .list(
                            phones.map {
                                .list([
                                    .integer(Int64($0.number.raw)), .integer(Int64($0.lastScan.raw)),
                                ])
                            })
                    ))
            )
        case .evidence(let part):
            (
                "swiftwing.evidence",
                .members(
                    ("test", .text(part.test)), ("file", .text(part.file)),
                    ("offset", .integer(Int64(part.offset))), ("bytes", .bytes(part.bytes)))
            )
        case .evidenceComplete(let list): ("swiftwing.evidence_complete", list.value)
        }
    }
}

extension [SpawnOrder.Count] {
    var total: Int { self.reduce(0) { $0 + $1.phones } }

    var value: MessageValue { .map(self.map { .init(.text($0.group), .integer(Int64($0.phones))) }) }

    /// The users of a worker, as several messages have them.
    var members: [MessageValue.Member] {
        [
            .init(.text("user_classes_count"), self.value),
            .init(.text("user_count"), .integer(Int64(self.total))),
        ]
    }
}

extension EvidenceList {
    fileprivate var value: MessageValue {
        .members(
            ("test", .text(self.test)),
            ("files", .map(self.files.map { .init(.text($0.name), .integer(Int64($0.size))) })),
            ("code", .integer(Int64(self.code))), ("folder", .text(self.folder)))
    }
}
