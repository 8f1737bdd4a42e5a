import JSON
import SimBase

extension JSONNode {
    /// The value as a short text, for searching it in the response.
    var excerpt: String? { self.flag.map { $0 ? "true" : "false" } ?? (self.text ?? self.digits)?.bounded }

    /// The kind of the value.
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
