#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Files and folders by name.
package enum FileTree {
    /// What a path leads to.
    package enum Kind: Hashable, Sendable {
        case file(bytes: Int)
        /// A folder, a device or a pipe.
        case other
        case unreachable(SystemError)
    }

    /// Does not open what is there: a pipe would wait for its other end.
    package static func kind(of path: String) -> Kind {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            return .unreachable(SystemError(call: "stat \(path)", code: errno))
        }
        return status.st_mode & S_IFMT == S_IFREG ? .file(bytes: Int(status.st_size)) : .other
    }

    /// Whether a path leads to a pipe that waits for its other end. What the process has open already is none.
    package static func isNamedPipe(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFIFO && !path.hasPrefix("/dev/") && !path.hasPrefix("/proc/")
    }

    /// False also for a link to nothing.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Returns the names in a folder, but for "." and "..", in no particular order.
    package static func names(inFolder path: String) throws(SystemError) -> [String] {
        guard let folder = unsafe opendir(path) else {
            throw SystemError(call: "opendir \(path)", code: errno)
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(
                    to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)
                ) {
                    unsafe String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Makes a folder and those above it; nothing happens when it is there.
    package static func makeFolder(_ path: String, mode: UInt32 = 0o777) throws(SystemError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            guard unsafe mkdir(made, mode_t(mode)) != 0 else { continue }
            let code = errno
            // A system may refuse to make what is there before it looks.
            guard !Self.exists(made) else { continue }
            throw SystemError(call: "mkdir \(made)", code: code)
        }
        if case .file = Self.kind(of: path) { throw SystemError(call: "mkdir \(path)", code: EEXIST) }
    }

    /// Makes a folder. It is an error if the name is taken.
    package static func makeNewFolder(_ path: String) throws(SystemError) {
        guard unsafe mkdir(path, 0o777) == 0 else { throw SystemError(call: "mkdir \(path)", code: errno) }
    }

    /// A new, empty folder for this process alone, below `TMPDIR` or `/tmp`.
    package static func makeTemporaryFolder(named name: String) throws(SystemError) -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/\(name).XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe mkdtemp($0) } != nil
        }
        guard made else { throw SystemError(call: "mkdtemp \(base)/\(name)", code: errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Makes a symbolic link.
    package static func link(_ path: String, to destination: String) throws(SystemError) {
        guard unsafe symlink(destination, path) == 0 else {
            throw SystemError(call: "symlink \(path)", code: errno)
        }
    }

    package static func replace(_ path: String, by newPath: String) throws(SystemError) {
        guard unsafe rename(newPath, path) == 0 else {
            throw SystemError(call: "rename \(newPath)", code: errno)
        }
    }

    /// Removes a file or a link.
    package static func remove(_ path: String) throws(SystemError) {
        guard unsafe unlink(path) == 0 else { throw SystemError(call: "unlink \(path)", code: errno) }
    }

    package static func removeFolder(_ path: String) { _ = unsafe rmdir(path) }
}
