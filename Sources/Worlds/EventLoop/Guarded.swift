// ThreadSanitizer reports a false "Swift access race" on a correct `Mutex` on Linux (6.3.1), whose futex path
// the runtime does not announce to it; under -DSIM_TSAN a pthread mutex, which it knows, replaces it.
#if SIM_TSAN

    import CSystem

    /// A value behind a lock: the project's only kind of lock.
    @safe package final class Guarded<Value: Sendable>: @unchecked Sendable {
        private var value: Value
        private let lock: UnsafeMutableRawPointer

        package init(_ value: Value) {
            self.value = value
            unsafe self.lock = shim_make_lock()
        }

        deinit { unsafe shim_free_lock(self.lock) }

        package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
            unsafe shim_lock(self.lock)
            defer { unsafe shim_unlock(self.lock) }
            return body(&self.value)
        }
    }

#else

    import Synchronization

    /// A value behind a lock: the project's only kind of lock.
    package final class Guarded<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>

        package init(_ value: Value) { self.mutex = Mutex(value) }

        package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
            self.mutex.withLock { value in body(&value) }
        }
    }

#endif
