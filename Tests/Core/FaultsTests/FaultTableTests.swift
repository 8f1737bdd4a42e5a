import Faults
import SimBase
import Talaria
import Testing

struct FaultTableTests {
    @Test func `an entry with the examples of its keys makes the kind of its name, and back`() {
        for entry in FaultTable.all {
            var values = FaultValues()
            for field in entry.fields { values[field.name] = Self.sample(field.type) }
            let kind = FaultKind(name: entry.name, values)
            #expect(kind?.id == entry.id)
            #expect(kind?.name == entry.name)
            #expect(kind?.layer == entry.layer)
            #expect(kind?.values == values, "\(entry.name) keeps every value")
        }
    }

    private static func sample(_ type: FaultFieldType) -> FaultValue {
        switch type {
        case .duration, .offset: .durations(.seconds(3)...(.seconds(3)))
        case .durations: .durations(.seconds(2)...(.seconds(6)))
        case .quota: .quota(Quota(requests: 2, window: .seconds(5)))
        case .integer(let range): .integers(range.lowerBound...range.lowerBound)
        case .integers(let range): .integers(range)
        case .share: .share(Odds(perMillion: 20_000))
        case .bitRate: .bitRate(240_000)
        case .toggle: .toggle(true)
        case .choice(let words): .word(words.last ?? "")
        case .code: .word("SOME_CODE")
        case .cut: .cut(.insideEvent)
        }
    }

    @Test func `a kind that needs a key is none without it`() {
        for entry in FaultTable.all {
            let isWhole = entry.fields.allSatisfy { $0.isOptional }
            let needsCode = entry.name.hasSuffix("-error") && entry.name != "http-error"
            let needsStage = entry.name == "slow-stage"
            let kind = FaultKind(name: entry.name, FaultValues())
            #expect((kind != nil) == (isWhole && !needsCode && !needsStage), "\(entry.name)")
        }
        #expect(FaultKind(name: "restart", FaultValues()) == nil)
    }

    @Test func `names are unique and every kind says what it does`() {
        #expect(Set(FaultTable.all.map(\.name)).count == FaultTable.all.count)
        #expect(FaultTable.all.allSatisfy { !$0.summary.isEmpty })
        #expect(FaultTable.all.allSatisfy { !$0.targets.isEmpty })
        #expect(FaultTable.all.map(\.id) == FaultKindID.allCases, "a kind is found by the number of its row")
    }

    @Test func `the keys of a kind are its own and the common ones that it takes`() {
        #expect(
            FaultTable.entry("reset")?.keys
                == [
                    "do", "on", "id", "key", "cut", "side", "chance", "at", "for", "after", "count",
                    "transport", "scope", "scan", "attempt",
                ])
        #expect(
            FaultTable.entry("offline")?.keys == ["do", "on", "id", "key", "chance", "at", "for", "scope"])
        #expect(FaultTable.entry("restart") == nil)
    }
}
