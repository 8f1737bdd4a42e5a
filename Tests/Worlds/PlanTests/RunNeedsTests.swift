import Plan
import Testing

struct RunNeedsTests {
    @Test func `a phone needs a descriptor, is best given three, and shares a handle's two`() {
        let needs = RunNeeds(phones: 600, phonesPerHandle: 300)
        #expect(needs.descriptorsBeside == 102)
        #expect(needs.descriptorsLeast == 600 + 8 + 102)
        #expect(needs.descriptorsBest == 1_800 + 102)
        #expect(needs.bytes == 40 << 20 + 600 * 24 << 10)
    }

    @Test func `a machine carries what the scarcest thing allows`() {
        func capacity(_ descriptors: Int, _ ports: Int, _ bytes: Int64) -> MachineCapacity {
            MachineCapacity(descriptors: descriptors, ports: ports, bytes: bytes, phonesPerHandle: 300)
        }
        let byDescriptors = capacity(20_000, 1_000_000, 1 << 40)
        #expect(byDescriptors.bound == .descriptors)
        #expect((19_500...19_600).contains(byDescriptors.phones))
        for phones in [byDescriptors.phones, byDescriptors.phones + 1] {
            let least = RunNeeds(phones: phones, phonesPerHandle: 300).descriptorsLeast
            #expect((least <= 20_000) == (phones == byDescriptors.phones), "not one more")
        }
        let byPorts = capacity(1_000_000, 28_000, 1 << 40)
        #expect(byPorts.bound == .ports && byPorts.phones == 28_000)
        let byMemory = capacity(1_000_000, 1_000_000, 128 << 20)
        #expect(byMemory.bound == .memory && byMemory.phones == 1_024)
        #expect(capacity(100, 10, 0).phones == 0)
    }
}
