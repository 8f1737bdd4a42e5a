import Foundation
import RunJudge

/// The remarks of a shard as one line of `evidence.ndjson`: values, of which the merge makes its own.
enum RemarkCoding {
    private struct Line: Codable {
        var remarks: [Remark]
    }

    static func line(_ remarks: [Remark]) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(Line(remarks: remarks)) else {
            preconditionFailure("remarks have texts and integers only")
        }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// Nil if it is not such a line.
    static func remarks(_ line: ArraySlice<UInt8>) -> [Remark]? {
        try? JSONDecoder().decode(Line.self, from: Data(line)).remarks
    }
}
