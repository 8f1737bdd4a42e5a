import Testing

@testable import CurlLoop

@Suite struct SendBufferBudgetTests {
    private func photo(_ bytes: Int) -> TransferRequest.Body {
        let content = PhotoSource(head: [UInt8](repeating: 0, count: bytes), shared: nil)
        return .multipart([
            TransferRequest.Part(
                name: "image", filename: "p.jpg", contentType: "image/jpeg", content: content)
        ])
    }

    @Test func `a photo has a buffer of its own size, between the least and the most`() {
        var budget = SendBufferBudget()
        #expect(budget.take(for: .none) == 32_768)
        #expect(budget.take(for: .bytes(Array(repeating: 0, count: 100_000))) == 32_768)
        #expect(budget.take(for: self.photo(1_000)) == 32_768)
        #expect(budget.granted == 0)
        #expect(budget.take(for: self.photo(200_000)) == 204_096)
        #expect(budget.take(for: self.photo(1_000_000)) == 262_144)
        #expect(budget.granted == 204_096 + 262_144)
    }

    @Test func `uploads beyond 64 MiB have the least, until others end`() {
        var budget = SendBufferBudget()
        let photo = self.photo(300_000)
        for _ in 0..<256 { #expect(budget.take(for: photo) == 262_144) }
        #expect(budget.granted == 67_108_864)
        #expect(budget.take(for: photo) == 32_768)
        budget.giveBack(32_768, of: photo)
        #expect(budget.take(for: photo) == 32_768)
        budget.giveBack(262_144, of: photo)
        #expect(budget.take(for: photo) == 262_144)
    }

    @Test func `a body that is passed on counts for nothing`() {
        var budget = SendBufferBudget()
        let bytes = budget.take(for: .streamed(length: nil))
        #expect(bytes == 131_072)
        budget.giveBack(bytes, of: .streamed(length: nil))
        #expect(budget.granted == 0)
    }
}
