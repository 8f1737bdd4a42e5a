import JSON
import SimBase

extension JSONNode {
    /// What it is, for somebody who looks for it in the answer.
    var excerpt: String? { self.flag.map { $0 ? "true" : "false" } ?? (self.text ?? self.digits)?.bounded }

    /// What it is, in kind.
    var kindName: String {
        switch self.kind {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
