import OriginServer
import SimBase
import Talaria
import Testing

@testable import Backend

/// What the backend holds, with the limits that it must keep to.
@Suite struct BoundTests {
    private func bounds(_ backend: inout Backend) -> [Bound] {
        var bounds: [Bound] = []
        backend.eachBound { bounds.append($0) }
        return bounds
    }

    @Test func `jobs, tombstones and callers have their limits`() {
        var configuration = BackendConfiguration.contract
        configuration.tombstonesMax = 2
        var backend = Backend(
            configuration: configuration, shelf: Shelf(seed: 7, booksMin: 3, booksMax: 3),
            random: KeyedRandom(seed: 1))
        let names = self.bounds(&backend).map(\.name)
        #expect(
            names == [
                "BackendConfiguration.jobsMax", "BackendConfiguration.tombstonesMax",
                "BackendConfiguration.documentBytesMax", "ImportRules.booksMax",
                "LookupRules.keysMax", "RateLimiter.devicesMax",
            ])
        #expect(self.bounds(&backend).allSatisfy { !$0.isExceeded })
        backend.tombstones = Tombstones(jobsMax: 9)
        for number in 1...3 {
            backend.tombstones.add(JobKey(UUIDBits(randomHigh: UInt64(number), randomLow: 0)))
        }
        let exceeded = self.bounds(&backend).filter(\.isExceeded)
        #expect(exceeded == [Bound("BackendConfiguration.tombstonesMax", 3, max: 2)])
    }
}
