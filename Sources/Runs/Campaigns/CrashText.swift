/// What the runtime prints when a process traps: a message, the frames of the thread that trapped, and then registers and images.
enum CrashText {
    /// The beginnings of what comes after the frames of the thread that trapped.
    private static let ends = ["Registers:", "Images ("]
    private static let thread = "Thread "
    private static let crashed = " crashed:"

    /// The lines from the message to the last frame, at most so many: the first ones, which are next to the trap.
    static func lines(_ bytes: [UInt8], linesMax: Int) -> [String] {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        let told = lines.prefix { line in
            if line.hasPrefix(Self.thread) { return line.hasSuffix(Self.crashed) }
            return !Self.ends.contains { line.trimmingPrefix(while: { $0 == " " }).hasPrefix($0) }
        }
        return Array(told.prefix(linesMax))
    }
}
