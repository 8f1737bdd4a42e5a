import Foundation
import JSON
import RunDriver
import RunJudge
import SimBase
import Wire

/// `sse decode`: the events of a captured stream, read as the `contract` client reads them, but without its limits of size.
enum SSEDecodeCommand {
    static let command = Command(
        name: "sse decode", usage: "[FILE]",
        summary: "Decodes an event stream from FILE or standard input to JSON, one object per line",
        options: [
            Option(
                name: "--chunk", value: "N",
                help: "")
        ],
        positionalsMin: 0, positionalsMax: 1,
        isTool: true,
        example: #"printf 'event: ping\ndata: {}\n\n' | swiftwing-sim tool sse decode"#,
        run: { try Self.run($0, $1) })

    /// The size of one read without `--chunk`.
    private static let readBytesMax = 64 * 1_024

    private static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let chunk = try arguments.number("--chunk", in: 1...1_048_576) ?? Self.readBytesMax
        let path = arguments.positionals.first ?? "-"
        let input = try Self.open(path)
        var reader = SSEReader(limits: .generous)
        var items: [SSEItem] = []
        while true {
            let bytes = try Self.read(input, path)
            if bytes.isEmpty { break }
            for start in stride(from: 0, to: bytes.count, by: chunk) {
                reader.receive(bytes[start..<min(start + chunk, bytes.count)], into: &items)
            }
            Self.print(items, console)
            items.removeAll(keepingCapacity: true)
            // What cannot be seen need not be decoded.
            if StandardStream.output.isReaderGone || StandardStream.output.failure != nil { return .success }
        }
        // At the end of the stream an event without its blank line is discarded.
        reader.finish()
        return .success
    }

    private static func open(_ path: String) throws -> FileHandle {
        guard path != "-" else { return .standardInput }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw CommandFailure(.noInput, "cannot read \(path)")
        }
        return handle
    }

    /// Empty at the end of the input. A folder opens, but does not read.
    private static func read(_ input: FileHandle, _ path: String) throws -> [UInt8] {
        do {
            return try input.read(upToCount: Self.readBytesMax).map { [UInt8]($0) } ?? []
        } catch {
            throw CommandFailure(.noInput, "cannot read \(path == "-" ? "standard input" : path)")
        }
    }

    private static func print(_ items: [SSEItem], _ console: Console) {
        var lines = JSONWriter(.standard, reserving: 4_096)
        for item in items {
            switch item {
            case .event(let event):
                lines.object { line in
                    line.member("event", event.type)
                    line.member("data", event.data)
                    line.member("id", event.id)
                }
                lines.newline()
            case .retry(let wait):
                lines.object { $0.member("retry", wait.wholeMilliseconds) }
                lines.newline()
            case .comment, .lastEventID: break
            case .overflow:
                console.error("swiftwing-sim: dropped a line or event that exceeds the size limit")
            }
        }
        StandardStream.output.write(String(decoding: lines.bytes, as: UTF8.self))
    }
}
