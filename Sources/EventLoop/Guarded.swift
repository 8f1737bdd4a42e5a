import CSystem
import Synchronization

// ThreadSanitizer reports a false "Swift access race" on a correct `Mutex` on Linux (6.3.1), whose futex path the
// runtime does not announce to it; under -DSIM_TSAN a pthread mutex, which it knows, takes its place.
#if SIM_TSAN

    /// A value behind a lock: the project's only kind of lock.
    @safe package final class Guarded<Value: Sendable>: @unchecked Sendable {
        private var value: Value
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>

        package init(_ value: Value) {
            self.value = value
            unsafe self.mutex = .allocate(capacity: 1)
            unsafe pthread_mutex_init(self.mutex, nil)
        }

        deinit {
            unsafe pthread_mutex_destroy(self.mutex)
            unsafe self.mutex.deallocate()
        }

        package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
            unsafe pthread_mutex_lock(self.mutex)
            defer { unsafe pthread_mutex_unlock(self.mutex) }
            return body(&self.value)
        }
    }

#else

    /// A value behind a lock: the project's only kind of lock.
    package final class Guarded<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>

        package init(_ value: Value) { self.mutex = Mutex(value) }

        package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
            self.mutex.withLock { value in body(&value) }
        }
    }

#endif
