/// A key of up to 16 bytes as two words, which are compared at once.
package struct ShortKey: Hashable {
    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private let count: Int

    package static let bytesMax = 16

    package init(_ key: String) { self.init(key.utf8) }

    package init(_ bytes: some Collection<UInt8>) {
        precondition(bytes.count <= Self.bytesMax, "a key that no words hold")
        self.count = bytes.count
        for byte in bytes {
            self.high = self.high << 8 | self.low >> 56
            self.low = self.low << 8 | UInt64(byte)
        }
    }
}
