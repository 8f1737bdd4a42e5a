import EventLoop
import Gateway
import LiveServer
import RunArchive
import RunDriver
import RunJudge
import SimBase
import SystemIO

/// The file of `--record`: one line for each thing as it passes, so that what was written stays true whatever ends the
/// program.
final class RecordingFile: Sendable {
    static let option = Option(
        name: "--record", value: "FILE",
        help: "record every response and its timing to a new file for serve --replay; tokens are redacted")

    /// A stream of empty events takes twenty times its size here: without a bound a server could fill the disk.
    private static let bytesMax = 64 << 20

    private struct State: Sendable {
        var lines = 0
        var bytes = 0
        var isFull = false
        /// The system's words.
        var failure: String?
    }

    private let path: String
    private let file: File
    private let state = Guarded(State())

    /// Nil when no recording was requested. An existing file is never written over.
    init?(_ arguments: Arguments, by command: String, began: Int64, _ setup: inout LiveServerConfiguration)
        throws
    {
        guard let path = arguments["--record"] else { return nil }
        do throws(SystemError) {
            self.file = try File(path, .create)
        } catch {
            guard error.code != SystemCode.exists else {
                throw CommandFailure(
                    .usage, "cannot record to '\(path)': the file exists",
                    hint: "pass the path of a new file to --record")
            }
            throw CommandFailure(
                .cannotWrite, "cannot record to '\(path)': \(error.reason)",
                hint: "pass the path of a new file in a writable folder to --record")
        }
        self.path = path
        self.write(
            RecordingLine.opening(by: command, began: Timestamp.iso8601(unixMilliseconds: began)))
        setup.record = { [self] line in self.write(line) }
    }

    private func write(_ line: RecordingLine) {
        guard self.write(line.text), case .end(.unrecorded) = line.what else { return }
        let text =
            "the recording '\(self.path)' omits the body of answer \(line.exchange) because it is too long; serving continues\n"
        StandardStream.error.write(text)
    }

    /// Whether it is in the file.
    @discardableResult private func write(_ text: [UInt8]) -> Bool {
        self.state.withLock { state in
            // Serving continues without a recording; the end says so.
            guard state.failure == nil, !state.isFull else { return false }
            guard state.bytes + text.count <= Self.bytesMax else {
                state.isFull = true
                self.warnThatFull(lines: state.lines)
                return false
            }
            state.bytes += text.count
            do throws(SystemError) {
                try self.file.write(text)
                state.lines += 1
                return true
            } catch {
                state.failure = error.reason
                return false
            }
        }
    }

    private func warnThatFull(lines: Int) {
        let size = Self.bytesMax >> 20
        let text =
            "the recording '\(self.path)' ends after \(lines) lines: it has reached the limit of \(size) MiB; serving continues\n"
        StandardStream.error.write(text)
    }

    /// Closes the file and reports what is missing.
    func close() throws {
        let (lines, failure) = self.state.withLock { ($0.lines, $0.failure) }
        guard let failure else { return }
        throw CommandFailure(
            .cannotWrite, "the recording '\(self.path)' ends after \(lines) lines: \(failure)",
            hint: "free disk space and record again")
    }

    /// Reads a recording that is to be played.
    static func read(_ path: String, _ console: Console) throws -> Recording {
        let text = try InputFile.read(
            path, bytesMax: InputFile.recordingBytesMax, hint: "pass a file that --record wrote")
        do {
            let recording = try Recording(text)
            if recording.linesSkipped > 0 {
                console.error("\(path): skipped the last line, which is incomplete")
            }
            if recording.requestsLeftOut > 0 {
                console.error(
                    "\(path): left out \(recording.requestsLeftOut) requests of v2 that are of no journey,"
                        + " such as the enrichment of single books")
            }
            return recording
        } catch {
            throw CommandFailure(
                .badData, "\(path):\(error.line): \(error.text)",
                hint: "pass a file that --record wrote")
        }
    }
}
