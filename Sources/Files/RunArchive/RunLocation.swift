import SimBase
import Talaria

/// The location of a run's folder.
package enum RunLocation: Hashable, Sendable {
    /// `<reports>/<UTC time>-<scenario>-<seed>`, which the link `<reports>/latest` then names. `started`: milliseconds
    /// since 1970.
    case dated(reports: String, started: Int64, scenario: String, seed: UInt64)
    /// This folder, which may exist; files of an earlier run in it are replaced.
    case exactly(String)

    /// The name of a dated folder: letters, digits, `.`, `_` and `-` only, whatever the scenario is called.
    package static func name(started: Int64, scenario: String, seed: UInt64) -> String {
        let time = Timestamp.iso8601(unixMilliseconds: started)
        let compact = time.prefix { $0 != "." }.filter { $0 != ":" } + "Z"
        let safe = scenario.utf8.prefix(Self.scenarioBytesMax).map { byte -> Character in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"):
                Character(Unicode.Scalar(byte))
            default: "-"
            }
        }
        return "\(compact)-\(String(safe))-\(seed)"
    }

    private static let scenarioBytesMax = 64
}
