import Backend
import Plan
import SimBase
import Testing

struct FleetNeedsTests {
    private let machine = MachineKind(cores: 8, bytes: 32 << 30, descriptors: 20_000)

    private func needs(
        phones: Int, shards: Int? = nil, machine: MachineKind? = nil, hasBackend: Bool = true
    ) -> FleetNeeds {
        let fleet = group(devices: phones, arrivals: ArrivalRate(arrivals: 1_000, per: .seconds(1)))
        return FleetNeeds(
            plan(scenario([fleet])), shards: shards, machine: machine ?? self.machine, hasBackend: hasBackend,
            phonesPerHandle: 300)
    }

    @Test func `as many shards as the descriptors of a process request`() {
        let one = self.needs(phones: 15_000)
        #expect(one.shards == 1 && one.phonesPerShard == 15_000)
        let million = self.needs(phones: 1_000_000)
        let most = million.phonesByDescriptors
        #expect((19_500...19_600).contains(most))
        #expect(million.shards == (1_000_000 + most - 1) / most)
        #expect(million.descriptorsPerShard <= 20_000 && million.objection == nil)
    }

    @Test func `a machine takes what its memory and its processors allow`() throws {
        let small = MachineKind(cores: 64, bytes: 2 << 30, descriptors: 20_000)
        let byMemory = self.needs(phones: 1_000_000, machine: small)
        #expect(byMemory.shardsPerMachine.bound == .memory)
        #expect(byMemory.bytesPerShard * Int64(byMemory.shardsPerMachine.count) <= small.bytes * 3 / 4)
        let machines = try #require(byMemory.machines)
        #expect(machines * byMemory.shardsPerMachine.count >= byMemory.shards)
        let slow = MachineKind(cores: 1, bytes: 1 << 40, descriptors: 20_000)
        let byProcessors = self.needs(phones: 1_000_000, machine: slow)
        #expect(byProcessors.shardsPerMachine.bound == .processors)
        // The backend of a shard takes both.
        #expect(self.needs(phones: 1_000, hasBackend: false).bytes < self.needs(phones: 1_000).bytes)
        #expect(
            self.needs(phones: 1_000, hasBackend: false).processorTime
                < self.needs(phones: 1_000).processorTime)
    }

    @Test func `the load of the whole fleet is that of its journeys`() {
        let needs = self.needs(phones: 1_000_000)
        #expect(needs.journeysPerMillionSeconds == 1_000_000_000)
        #expect(needs.uploadBitsPerSecond == 1_000 * needs.uploadBytes * 8)
    }

    @Test func `what no such machine can run is said`() {
        #expect(self.needs(phones: 40_000, shards: 2).objection?.contains("file descriptors") == true)
        let small = MachineKind(cores: 8, bytes: 256 << 20, descriptors: 20_000)
        #expect(self.needs(phones: 19_000, machine: small).objection?.contains("MiB of memory") == true)
    }

    @Test func `what one backend counts over all phones is found`() {
        var divided = scenario()
        #expect(divided.fleetCounts.isEmpty)
        divided.server.backend.jobsMax = 50
        divided.server.backend.tombstonesMax = 5
        #expect(divided.fleetCounts.map(\.key) == ["server.jobs-max", "server.tombstones-max"])
    }
}
