import CSystem
package import SimBase
package import SystemIO

/// The resource usage of a process.
package struct ResourceUsage: Hashable, Sendable {
    /// Processor time in user and in system code.
    package var user: Interval
    package var system: Interval
    /// The largest resident size ever, in bytes.
    package var residentMax: Int64

    package var processor: Interval { self.user + self.system }

    /// This process, since its start.
    package static func own() -> ResourceUsage {
        ResourceUsage(shim_own_usage())
    }

    /// Processor time of the calling thread since its start: a loop that uses nearly all of its time is saturated.
    package static func processorOfThread() -> Interval { .nanoseconds(shim_thread_processor_nanoseconds()) }

    init(_ usage: shim_usage) {
        self.user = .nanoseconds(usage.user_nanoseconds)
        self.system = .nanoseconds(usage.system_nanoseconds)
        self.residentMax = usage.resident_max_bytes
    }
}

/// The process's file descriptors.
package enum DescriptorLimit {
    /// RLIMIT_NOFILE: what holds now, and up to where the process may raise it.
    package static func current() throws(SystemError) -> (soft: Int, hard: Int) {
        var (soft, hard): (UInt64, UInt64) = (0, 0)
        try SystemError.check("getrlimit", unsafe shim_descriptor_limits(&soft, &hard))
        return (Int(clamping: soft), Int(clamping: hard))
    }

    /// Raises the soft limit to `wanted` or as near as the hard limit allows; returns what holds then. Never lowers.
    @discardableResult
    package static func raise(to wanted: Int) throws(SystemError) -> Int {
        let (soft, hard) = try Self.current()
        let target = min(wanted, hard)
        guard target > soft else { return soft }
        try SystemError.check("setrlimit", shim_set_descriptor_limit(UInt64(target)))
        return target
    }

    /// Lowers the soft limit, for tests of what happens without descriptors.
    package static func lower(to wanted: Int) throws(SystemError) {
        try SystemError.check("setrlimit", shim_set_descriptor_limit(UInt64(wanted)))
    }

    /// Returns the number of open descriptors; nil if the system does not say.
    package static func open() -> Int? {
        let count = shim_open_descriptors()
        return count >= 0 ? Int(count) : nil
    }
}

package enum Terminal {
    /// Returns the width of the terminal, 0 if it is unknown; nil if it is not a terminal.
    package static func columns(of descriptor: Int32) -> Int? {
        let columns = shim_terminal_columns(descriptor)
        return columns >= 0 ? Int(columns) : nil
    }
}
