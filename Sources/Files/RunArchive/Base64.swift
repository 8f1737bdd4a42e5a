import Foundation

package enum Base64 {
    package static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Nil for what is none.
    static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        Data(base64Encoded: Data(text)).map { Array($0) }
    }
}
