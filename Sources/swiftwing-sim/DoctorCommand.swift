import CurlLoop
import EventLoop
import Foundation
import Imaging
import LocustConnection
import Plan
import RunDriver
import ScenarioFile
import SimBase
import TLS

/// `doctor`: whether this machine can carry a run, and how large a one.
enum DoctorCommand {
    static let command = Command(
        name: "doctor", usage: "",
        summary:
            "Checks this machine (file descriptors, ports, libraries, clock) and how many phones it can run",
        options: [], positionalsMin: 0, positionalsMax: 0, example: "swiftwing-sim doctor",
        run: { try Self.run($0, $1) })

    /// The minimum number of phones for a useful run.
    private static let phonesMin = 50
    /// A clock or timers that are coarser than this measure nothing.
    private static let coarsest = Interval.milliseconds(20)

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        var complaints: [String] = []
        let limits = try DescriptorLimit.current()
        let ports = Self.ports
        let machine = ProcessInfo.processInfo
        let memory = Int64(clamping: machine.physicalMemory)
        let step = Self.clockStep
        let late = try Self.timerLateness()
        if max(step, late) > Self.coarsest {
            complaints.append("the clock or its timers are too coarse for measurements")
        }
        if !Self.canEncode { complaints.append("libturbojpeg cannot encode a photo") }
        #if os(Linux)
            let sources = 16
        #else
            let sources = 1
        #endif
        let capacity = MachineCapacity(
            descriptors: limits.hard, ports: (ports?.count ?? 16_384) * sources, bytes: memory,
            phonesPerHandle: CurlPool.phonesPerMultiMax)
        if capacity.phones < Self.phonesMin {
            complaints.append(
                "this machine can run only \(capacity.phones) phones, limited by its \(capacity.bound.rawValue)"
            )
        }
        let portsText = ports.map {
            "\($0.lowerBound)..\($0.upperBound), \($0.count) for each of \(sources) source address\(sources == 1 ? "" : "es")"
        }
        let rows = [
            ["descriptors", "soft limit \(limits.soft), hard limit \(limits.hard) (ulimit -Hn)"],
            ["ports", portsText ?? "unknown"],
            ["processors", ThisMachine.processors],
            ["memory", "\(memory >> 20) MiB"],
            ["clock", "resolution \(step.nanoseconds) ns, timers \(late.nanoseconds / 1_000) us late"],
            ["libcurl", CurlGlobal.version],
            ["libevent", Loop.libraryVersion],
            ["libssl", TLSContext.libraryVersion],
            ["libyaml", ScenarioLoader.libraryVersion],
            ["libzmq", MasterSocket.libraryVersion],
            ["libmsgpack", MessagePack.libraryVersion],
            ["libturbojpeg", Self.canEncode ? "encodes" : "does not encode"],
            [
                "capacity",
                "about \(capacity.phones) phones with one open stream each, limited by \(capacity.bound.rawValue)",
            ],
        ]
        console.out(
            TextTable.lines(rows, indent: 0, columns: console.tableColumns).joined(separator: "\n"))
        guard complaints.isEmpty else {
            for complaint in complaints { console.error("swiftwing-sim: \(complaint)") }
            return .impossible
        }
        return .success
    }

    /// The ports for outgoing connections; nil if the system does not say.
    private static var ports: ClosedRange<Int>? {
        let text = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let numbers = text?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) } ?? []
        guard numbers.count == 2, numbers[0] <= numbers[1] else { return nil }
        return numbers[0]...numbers[1]
    }

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
