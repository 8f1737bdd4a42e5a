import RunDriver
import RunJudge
import SystemIO

/// A file that an option names to be written. What this program did not write is not replaced.
enum NamedFile {
    /// How a file of this program begins.
    enum Kind {
        case plan
        case page
        case markdown

        var text: String {
            switch self {
            case .plan: "a plan"
            case .page: "a page"
            case .markdown: "a comparison"
            }
        }

        func isBegun(by text: String) -> Bool {
            switch self {
            case .plan: text.hasPrefix("{") && text.contains("\"plan\":")
            case .page: text.hasPrefix("<!doctype html>") && text.contains("content=\"default-src 'none';")
            case .markdown: ["✅", "❌", "⚠"].contains { text.hasPrefix("## \($0)") }
            }
        }
    }

    private static let headBytes = 512

    /// The path of an option; nil if it is not given. To be called before the work whose result is written there.
    static func path(_ option: String, _ kind: Kind, _ arguments: Arguments) throws -> String? {
        guard let path = arguments[option] else { return nil }
        guard !FileTree.isNamedPipe(path) else {
            throw CommandFailure(
                .usage, "\(option) cannot write to '\(path)': it is a named pipe",
                hint: "name a file, or /dev/stdout")
        }
        guard case .file(let bytes) = FileTree.kind(of: path), bytes > 0, !arguments.has("--force"),
            !kind.isBegun(by: try self.beginning(of: path, option))
        else { return path }
        throw CommandFailure(
            .usage, "\(option) does not replace '\(path)': it is not \(kind.text) of swiftwing-sim",
            hint: "name another file")
    }

    private static func beginning(of path: String, _ option: String) throws -> String {
        do throws(SystemError) {
            var bytes: [UInt8] = []
            _ = try File(path, .read).read(appendingTo: &bytes, limit: Self.headBytes)
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw CommandFailure(.cannotWrite, "\(option) cannot write to '\(path)': \(error.reason)")
        }
    }
}
