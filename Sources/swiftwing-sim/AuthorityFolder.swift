import Foundation
import RunArchive
import RunDriver
import RunJudge
import SystemIO
import TLS

/// The folder of the certificate authority of `--tls`: a client that trusts `ca.pem` trusts the certificates of later starts,
/// too. Only the user can read `ca.key`.
struct AuthorityFolder {
    private let path: String

    var certificatePath: String { self.path + "/ca.pem" }
    private var keyPath: String { self.path + "/ca.key" }

    /// An empty path is the default folder.
    init(_ path: String) throws {
        if path.isEmpty {
            self.path = try Self.defaultPath()
        } else {
            self.path = URL(filePath: path).standardizedFileURL.path
        }
    }

    /// The folder of the XDG Base Directory Specification, also on macOS.
    private static func defaultPath() throws -> String {
        let environment = ProcessInfo.processInfo.environment
        // The specification: relative paths are invalid.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/swiftwing-sim/tls" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw CommandFailure(
                .usage, "--tls does not know where to keep its authority: HOME is not set",
                hint: "name a folder: --tls=DIR")
        }
        return home + "/.local/share/swiftwing-sim/tls"
    }

    /// The command that makes the booted iOS simulator trust the authority (Xcode 11.4 or newer).
    var trustCommand: String {
        "xcrun simctl keychain booted add-root-cert \(ShellWords.quoted(self.certificatePath))"
    }

    /// Returns the authority, which is made if there is none. `now`: seconds since 1970.
    func authority(at now: Int64) throws -> CertificateAuthority {
        let files: CertificateAuthority.Files
        do throws(SystemError) {
            try FileTree.makeFolder(self.path, mode: 0o700)
        } catch {
            throw CommandFailure(
                .cannotWrite, "cannot make the folder '\(self.path)': \(error.reason)",
                hint: "name another folder: --tls=DIR")
        }
        let lock = try self.lock()
        switch (FileTree.exists(self.certificatePath), FileTree.exists(self.keyPath)) {
        case (false, false): files = try self.make(at: now)
        case (true, true):
            files = CertificateAuthority.Files(
                certificate: try self.contents(self.certificatePath), key: try self.contents(self.keyPath))
        case (true, false), (false, true):
            throw self.unusable("one of its files is missing")
        }
        withExtendedLifetime(lock) {}
        do throws(TLSIdentityError) {
            return try CertificateAuthority(files, at: now)
        } catch {
            throw self.unusable("\(error)")
        }
    }

    /// Two servers that start at once must not make two authorities.
    private func lock() throws -> FolderLock {
        for _ in 0..<500 {
            if let lock = FolderLock(self.path) { return lock }
            Thread.sleep(forTimeInterval: 0.01)
        }
        throw CommandFailure(.unavailable, "another program has locked '\(self.path)'")
    }

    private func make(at now: Int64) throws -> CertificateAuthority.Files {
        let files = CertificateAuthority.make(at: now)
        do throws(SystemError) {
            // Renamed when it is complete: a start that is interrupted leaves nothing that looks like a key.
            let fresh = "\(self.keyPath).part"
            if FileTree.exists(fresh) { try FileTree.remove(fresh) }
            try File.write(files.key, to: fresh, .createPrivate)
            try File.save(files.certificate, to: self.certificatePath)
            try FileTree.replace(self.keyPath, by: fresh)
        } catch {
            throw CommandFailure(
                .cannotWrite, "cannot write to '\(self.path)': \(error.reason)",
                hint: "name another folder: --tls=DIR")
        }
        return files
    }

    private func contents(_ path: String) throws -> [UInt8] {
        do throws(File.Unreadable) {
            return try File.contents(of: path, bytesMax: TLSOptions.fileBytesMax)
        } catch {
            throw self.unusable("\(error)")
        }
    }

    private func unusable(_ reason: String) -> CommandFailure {
        CommandFailure(
            .badData, "cannot use the certificate authority in '\(self.path)': \(reason)",
            hint:
                "remove ca.pem and ca.key there; the next start makes a new authority, which clients must trust anew"
        )
    }
}
