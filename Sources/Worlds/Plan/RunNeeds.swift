/// The resources that a fleet needs.
package struct RunNeeds: Hashable, Sendable {
    /// The memory of a phone with an open stream: libcurl's part of it, the phone itself, and what is recorded of it.
    package static let phoneBytes: Int64 = 24 << 10
    /// The memory of the process without phones: code, histograms, curl's and libevent's tables.
    package static let processBytes: Int64 = 40 << 20

    package let phones: Int
    /// Phones that share one handle of libcurl, which takes two descriptors.
    private let phonesPerHandle: Int

    package init(phones: Int, phonesPerHandle: Int) {
        self.phones = phones
        self.phonesPerHandle = phonesPerHandle
    }

    /// The number of descriptors that are not connections: of journals, mailboxes, reports, loops, and two of
    /// each handle.
    package var descriptorsBeside: Int { 96 + 2 * (self.phones / self.phonesPerHandle + 1) }

    /// The minimum number of descriptors: with fewer, some phones have no stream. Some upload while others have their streams.
    package var descriptorsLeast: Int { self.phones + self.phones / 75 + self.descriptorsBeside }

    /// The recommended number of descriptors: a phone can keep its upload connection. Five streams, an upload
    /// and a response at once are possible, but rare.
    package var descriptorsBest: Int { max(self.descriptorsLeast, self.phones * 3 + self.descriptorsBeside) }

    /// Approximate, without the photos.
    package var bytes: Int64 { Self.processBytes + Int64(self.phones) * Self.phoneBytes }
}

/// The capacity of a machine, by the first resource that runs out.
package struct MachineCapacity: Hashable, Sendable {
    package enum Bound: String, Hashable, Sendable {
        case descriptors
        case ports
        case memory
    }

    package var phones: Int
    package var bound: Bound

    /// - Parameters:
    ///   - descriptors: What a process may have at most.
    ///   - ports: For connections out, of all source addresses together.
    ///   - bytes: Of memory; half of it is for others.
    package init(descriptors: Int, ports: Int, bytes: Int64, phonesPerHandle: Int) {
        func fits(_ phones: Int) -> Bool {
            RunNeeds(phones: phones, phonesPerHandle: phonesPerHandle).descriptorsLeast <= descriptors
        }
        var (low, high) = (0, max(0, descriptors))
        while low < high {
            let middle = (low + high + 1) / 2
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        let memory = max(0, bytes / 2 - RunNeeds.processBytes) / RunNeeds.phoneBytes
        let bounds: [(Int, Bound)] = [
            (low, .descriptors), (max(0, ports), .ports), (Int(clamping: memory), .memory),
        ]
        (self.phones, self.bound) = bounds.reduce(bounds[0]) { $1.0 < $0.0 ? $1 : $0 }
    }
}
