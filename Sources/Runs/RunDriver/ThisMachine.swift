import Foundation

/// The description of the machine, for comparing runs. It contains no host name, because reports are shared.
package enum ThisMachine {
    /// The description, for example `2 × AMD EPYC, 24016 MiB, Debian GNU/Linux 12 (bookworm)`.
    package static let text: String = {
        let system = ProcessInfo.processInfo
        let memory = "\(system.physicalMemory >> 20) MiB"
        return [Self.processors, memory, system.operatingSystemVersionString].joined(separator: ", ")
    }()

    package static let processors = "\(ProcessInfo.processInfo.activeProcessorCount) × \(Self.processor)"

    /// The name of the processor from the kernel; otherwise its architecture.
    private static var processor: String {
        let facts = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
        let line = facts?.split(separator: "\n").first { $0.hasPrefix("model name") }
        let words = line?.split(separator: ":", maxSplits: 1).last?.split(whereSeparator: \.isWhitespace)
        let name = words?.joined(separator: " ")
        #if arch(arm64)
            return name ?? "arm64"
        #else
            return name ?? "x86_64"
        #endif
    }
}

/// Name and version.
package enum ThisProgram {
    package static let version = "0.1.0"
    package static let tool = "swiftwing-sim \(Self.version)"
    /// The version of Swift's standard library that the program uses, for example `Swift 6.3.0`.
    package static let toolchain = "Swift \(_SwiftStdlibVersion.current)"
}
