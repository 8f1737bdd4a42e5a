import Foundation

/// An exclusive lock on a run's folder until the run or its process ends. It uses flock(2) and no file, so that a kill leaves
/// nothing behind.
package final class FolderLock {
    private let descriptor: CInt

    /// Nil if another run holds the lock. On a file system without locks, every run gets it.
    package convenience init?(_ folder: String) { self.init(folder, LOCK_EX) }

    private init?(_ folder: String, _ operation: CInt) {
        self.descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard self.descriptor >= 0, flock(self.descriptor, operation | LOCK_NB) != 0, errno == EWOULDBLOCK
        else { return }
        close(self.descriptor)
        return nil
    }

    deinit {
        if self.descriptor >= 0 { close(self.descriptor) }
    }

    /// Whether a run holds the lock. Concurrent calls do not disturb each other.
    package static func isHeld(_ folder: String) -> Bool { FolderLock(folder, LOCK_SH) == nil }
}
