import JSON
import SimBase

extension JSONNode {
    /// What it is, for somebody who looks for it in the answer.
    var excerpt: String? {
        switch self {
        case .null, .array, .object: nil
        case .bool(let flag): flag ? "true" : "false"
        case .number(let digits): digits.bounded
        case .string(let text): text.bounded
        }
    }
}
