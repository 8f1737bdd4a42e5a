import Faults
import Talaria
import Testing

struct FaultTableTests {
    @Test func `every kind of the vocabulary is available under its name`() {
        let kinds: [FaultKind] = [
            .rateLimit(quota: Quota(requests: 1, window: .seconds(1)), retryAfter: nil), .stripBooks(.absent),
            .expireToken, .reset(.betweenEvents), .offline,
        ]
        #expect(FaultTable.available.map(\.name) == kinds.map(\.name))
    }

    @Test func `names are unique and every kind says what it does`() {
        #expect(Set(FaultTable.all.map(\.name)).count == FaultTable.all.count)
        #expect(FaultTable.all.allSatisfy { !$0.summary.isEmpty })
        #expect(FaultTable.available.allSatisfy { !$0.places.isEmpty })
    }

    @Test func `the keys of a kind are its own and the common ones that it takes`() {
        #expect(
            FaultTable.entry("reset")?.keys
                == ["do", "on", "id", "cut", "chance", "at", "for", "after", "count", "scope"])
        #expect(FaultTable.entry("offline")?.keys == ["do", "on", "id", "chance", "at", "for", "scope"])
        #expect(FaultTable.entry("restart") == nil)
    }
}
