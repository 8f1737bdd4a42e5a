import CSystem
import EventLoop
import SystemIO

/// What tests ask the system.
enum ProcessProbe {
    /// Whether a process of this id exists, a zombie included.
    static func isAlive(_ processID: Int32) -> Bool { shim_kill(processID, 0) >= 0 }

    static func duplicate(_ descriptor: Int32) throws -> Int32 {
        let number = shim_duplicate(descriptor, 0)
        guard number >= 0 else { throw SystemError(call: "dup", code: -number) }
        return number
    }

    static func signalItself(_ signal: Signal) { _ = shim_kill(shim_own_process(), signal.number) }
}
