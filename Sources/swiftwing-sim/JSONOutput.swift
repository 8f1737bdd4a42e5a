import RunArchive
import RunDriver

/// What `--json` prints: one document on standard output.
///
/// `schema` is raised when a key changes its meaning or is removed; keys may be added. A key of a number names the unit, as in
/// `memory_bytes` or `time_ms`.
enum JSONOutput {
    static let schema = 1
    static let name = "--json"
    static let option = Option(
        name: Self.name, value: nil, help: "print one JSON document in place of the text")

    static func print(_ members: [String: JSONValue], _ console: Console) {
        var members = members
        members["schema"] = .integer(Self.schema)
        console.out(JSONValue.object(members).text(colon: ": "))
    }
}
