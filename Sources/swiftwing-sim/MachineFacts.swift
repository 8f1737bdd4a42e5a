import CurlLoop
import EventLoop
import Foundation
import Imaging
import LocustConnection
import Plan
import RunArchive
import RunDriver
import ScenarioFile
import SimBase
import TLS

/// What `doctor` finds out about this machine.
struct MachineFacts {
    /// The minimum number of phones for a useful run.
    private static let phonesMin = 50
    /// A clock or timers that are coarser than this measure nothing.
    private static let coarsest = Interval.milliseconds(20)

    private let descriptors: (soft: Int, hard: Int)
    /// The ports for outgoing connections; nil if the system does not say.
    private let ports: ClosedRange<Int>?
    /// Source addresses of this machine that connections to itself can use.
    private let sources: Int
    private let memory: Int64
    private let clockStep: Interval
    private let timerLateness: Interval
    private let canEncode: Bool
    private let capacity: MachineCapacity

    static func measured() throws -> Self {
        let descriptors = try DescriptorLimit.current()
        let ports = SourceAddress.ports
        let memory = Int64(clamping: ProcessInfo.processInfo.physicalMemory)
        #if os(Linux)
            let sources = 16
        #else
            let sources = 1
        #endif
        return Self(
            descriptors: descriptors, ports: ports, sources: sources, memory: memory,
            clockStep: Self.clockStep, timerLateness: try Self.timerLateness(), canEncode: Self.canEncode,
            capacity: MachineCapacity(
                descriptors: descriptors.hard, ports: SourceAddress.portCount * sources, bytes: memory,
                phonesPerHandle: CurlPool.phonesPerMultiMax))
    }

    /// What keeps this machine from a useful run; empty if nothing does.
    var complaints: [String] {
        var complaints: [String] = []
        if max(self.clockStep, self.timerLateness) > Self.coarsest {
            complaints.append("the clock or its timers are too coarse for measurements")
        }
        if !self.canEncode { complaints.append("libturbojpeg cannot encode a photo") }
        if self.capacity.phones < Self.phonesMin {
            complaints.append(
                "this machine can run only \(self.capacity.phones) phones, limited by its \(self.capacity.bound.rawValue)"
            )
        }
        return complaints
    }

    private static let libraries = [
        ("libcurl", CurlGlobal.version), ("libevent", Loop.libraryVersion),
        ("libssl", TLSContext.libraryVersion), ("libyaml", ScenarioLoader.libraryVersion),
        ("libzmq", MasterSocket.libraryVersion), ("libmsgpack", MessagePack.libraryVersion),
    ]

    var rows: [[String]] {
        let ports = self.ports.map {
            "\($0.lowerBound)..\($0.upperBound): \($0.count) phones for each source address, of which there \(self.sources == 1 ? "is one" : "are \(self.sources)") to this machine and one, or as many as --source names, to another"
        }
        var rows = [
            [
                "descriptors",
                "soft limit \(self.descriptors.soft), hard limit \(self.descriptors.hard) (ulimit -Hn)",
            ],
            ["ports", ports ?? "unknown"],
            ["processors", ThisMachine.processors],
            ["memory", "\(self.memory >> 20) MiB"],
            [
                "clock",
                "resolution \(self.clockStep.nanoseconds) ns, timers \(self.timerLateness.nanoseconds / 1_000) us late",
            ],
        ]
        for (name, version) in Self.libraries { rows.append([name, version]) }
        rows.append(["libturbojpeg", self.canEncode ? "encodes" : "does not encode"])
        rows.append([
            "capacity",
            "about \(self.capacity.phones) phones with one open stream each, limited by \(self.capacity.bound.rawValue)",
        ])
        return rows
    }

    var json: [String: JSONValue] {
        [
            "descriptors": .object([
                "soft": .integer(self.descriptors.soft), "hard": .integer(self.descriptors.hard),
            ]),
            "ports": self.ports.map { ports in
                .object([
                    "first": .integer(ports.lowerBound), "last": .integer(ports.upperBound),
                    "source_addresses": .integer(self.sources),
                ])
            } ?? .null,
            "processors": .string(ThisMachine.processors),
            "memory_bytes": .integer(self.memory),
            "clock_resolution_ns": .integer(self.clockStep.nanoseconds),
            "timer_lateness_ns": .integer(self.timerLateness.nanoseconds),
            "libraries": .object(
                Dictionary(uniqueKeysWithValues: Self.libraries.map { ($0.0, .string($0.1)) })),
            "encodes_photos": .bool(self.canEncode),
            "phones": .integer(self.capacity.phones),
            "limited_by": .string(self.capacity.bound.rawValue),
            "complaints": .array(self.complaints.map { .string($0) }),
        ]
    }

    // MARK: Measurements

    /// The smallest step between two readings.
    private static var clockStep: Interval {
        var smallest = Int64.max
        var last = MonotonicClock.now()
        for _ in 0..<10_000 {
            let now = MonotonicClock.now()
            if now > last { smallest = min(smallest, now - last) }
            last = now
        }
        return .nanoseconds(smallest)
    }

    /// The median of some.
    private static func timerLateness() throws -> Interval {
        let loop = try Loop(clock: .startingNow())
        var late: [Interval] = []
        var timer: LoopTimer?
        timer = LoopTimer(loop: loop) { due in
            late.append(loop.now() - due)
            if late.count < 21 { timer?.arm(after: .milliseconds(2)) } else { loop.stop() }
        }
        timer?.arm(after: .milliseconds(2))
        loop.run()
        return late.sorted()[late.count / 2]
    }

    private static let canEncode: Bool = {
        let bitmap = Bitmap(width: 16, height: 16, pixels: [UInt8](repeating: 128, count: 16 * 16 * 3))
        var encoder = JPEGEncoder()
        return (try? encoder.encode(bitmap, quality: 85)) != nil
    }()
}
