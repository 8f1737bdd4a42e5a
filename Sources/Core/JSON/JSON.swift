/// The JSON coding of whole bodies, with the same bytes in every process.
package enum JSON {
    package static func encode(_ value: some JSONWritable) -> [UInt8] {
        JSONWriter.bytes { value.write(to: &$0) }
    }

    /// An object with the members that `members` writes.
    package static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        JSONWriter.bytes { $0.object(members) }
    }

    /// The text as a JSON string with its quotes.
    package static func string(_ text: String) -> [UInt8] { JSONWriter.bytes { $0.text(text) } }
}
