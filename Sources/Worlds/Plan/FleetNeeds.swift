import Phone
package import SimBase
import Talaria

/// A kind of machine that shards run on.
package struct MachineKind: Hashable, Sendable {
    package var cores: Int
    package var bytes: Int64
    /// The descriptors that one process may have.
    package var descriptors: Int

    package init(cores: Int, bytes: Int64, descriptors: Int) {
        self.cores = cores
        self.bytes = bytes
        self.descriptors = descriptors
    }
}

/// What a fleet in several processes needs, from figures that were measured (decision 0192).
package struct FleetNeeds: Hashable, Sendable {
    /// Processor time of the phones for one journey, from the upload to the DELETE, and of judging it.
    package static let journeyTime = Interval.microseconds(1_020)
    /// Processor time of the simulated backend for one journey.
    package static let backendJourneyTime = Interval.microseconds(590)
    /// Memory of a process at its peak for a phone with an open stream, and without phones.
    package static let phoneBytes: Int64 = 61 << 10
    package static let processBytes: Int64 = 46 << 20
    /// Memory of the simulated backend for a phone with an open stream, and without phones.
    package static let backendPhoneBytes: Int64 = 11 << 10
    package static let backendBytes: Int64 = 35 << 20
    /// The part of a machine's memory and processors that shards may take: the rest is the system's, and keeps timers in time.
    package static let memoryPercent: Int64 = 75
    package static let processorPercent: Int64 = 50

    package enum Bound: String, Hashable, Sendable {
        case descriptors, memory, processors, shards
    }

    package let phones: Int
    package let machine: MachineKind
    package let hasBackend: Bool
    package let phonesPerHandle: Int
    /// The number of shards, and whether it was given.
    package let shards: Int
    package let isGiven: Bool
    /// The most phones of one process that the descriptors allow.
    package let phonesByDescriptors: Int
    /// Journeys in a million seconds, at the peak.
    package let journeysPerMillionSeconds: Int64
    /// Bytes of one upload.
    package let uploadBytes: Int64

    /// `shards`: nil for as few as the descriptors allow.
    package init(
        _ plan: RunPlan, shards: Int?, machine: MachineKind, hasBackend: Bool, phonesPerHandle: Int
    ) {
        self.phones = plan.devices
        self.machine = machine
        self.hasBackend = hasBackend
        self.phonesPerHandle = phonesPerHandle
        let most = MachineCapacity(
            descriptors: machine.descriptors, ports: .max, bytes: .max, phonesPerHandle: phonesPerHandle
        ).phones
        self.phonesByDescriptors = most
        self.isGiven = shards != nil
        self.shards = shards ?? max(1, most > 0 ? (plan.devices + most - 1) / most : plan.devices)
        self.journeysPerMillionSeconds = plan.journeysPerMillionSeconds
        self.uploadBytes = plan.uploadBytesTypical
    }

    /// Phones of the largest shard.
    package var phonesPerShard: Int { (self.phones + self.shards - 1) / self.shards }

    package var descriptorsPerShard: Int {
        RunNeeds(phones: self.phonesPerShard, phonesPerHandle: self.phonesPerHandle).descriptorsLeast
    }

    /// Of the phones and, if there is one, of the backend.
    package var bytesPerShard: Int64 {
        let own = Self.processBytes + Int64(self.phonesPerShard) * Self.phoneBytes
        let backend = Self.backendBytes + Int64(self.phonesPerShard) * Self.backendPhoneBytes
        return own + (self.hasBackend ? backend : 0)
    }

    package var bytes: Int64 { self.bytesPerShard * Int64(self.shards) }

    /// Processor time of a second, at the peak.
    package var processorTime: Interval {
        let time = Self.journeyTime + (self.hasBackend ? Self.backendJourneyTime : .zero)
        return Interval(
            nanoseconds: Int64(
                clamping: UInt128(self.journeysPerMillionSeconds) * UInt128(time.nanoseconds) / 1_000_000))
    }

    /// Bits of uploads in a second, at the peak.
    package var uploadBitsPerSecond: Int64 {
        Int64(clamping: UInt128(self.journeysPerMillionSeconds) * UInt128(self.uploadBytes) * 8 / 1_000_000)
    }

    /// Shards that one machine can run by its memory and by its processors; at least one where it can run any.
    package var shardsByMemory: Int {
        Int(self.machine.bytes / 100 * Self.memoryPercent / max(1, self.bytesPerShard))
    }

    package var shardsByProcessors: Int {
        let ofShard = max(1, self.processorTime.nanoseconds / Int64(self.shards))
        let ofMachine = Int64(self.machine.cores) * 1_000_000_000 / 100 * Self.processorPercent
        return Int(clamping: ofMachine / ofShard)
    }

    package var shardsPerMachine: (count: Int, bound: Bound) {
        let bounds: [(Int, Bound)] = [
            (self.shards, .shards), (self.shardsByMemory, .memory), (self.shardsByProcessors, .processors),
        ]
        let least = bounds.dropFirst().reduce(bounds[0]) { $1.0 < $0.0 ? $1 : $0 }
        return (least.0, least.1)
    }

    /// Nil where a machine cannot run a single shard.
    package var machines: Int? {
        let (count, _) = self.shardsPerMachine
        return count > 0 ? (self.shards + count - 1) / count : nil
    }

    /// Why a shard cannot run on such a machine; nil when it can.
    package var objection: String? {
        if self.phonesPerShard > self.phonesByDescriptors {
            return
                "a shard of \(self.phonesPerShard) phones needs \(self.descriptorsPerShard) file descriptors, but a process may have \(self.machine.descriptors)"
        }
        if self.shardsByMemory == 0 {
            return
                "a shard needs \(self.bytesPerShard >> 20) MiB of memory, more than \(Self.memoryPercent) % of a machine's \(self.machine.bytes >> 20) MiB"
        }
        if self.shardsByProcessors == 0 {
            return
                "the journeys of a shard need more than \(Self.processorPercent) % of a machine's \(self.machine.cores) processors at the peak"
        }
        return nil
    }
}

extension RunPlan {
    /// Journeys in a million seconds: of open groups at the peak of their schedule, of closed groups as if every phone thought
    /// for the mean time.
    fileprivate var journeysPerMillionSeconds: Int64 {
        self.groups.reduce(0) { sum, group in
            switch group.spec.load {
            case .open(let curve, _):
                return sum + Int64(clamping: curve.peakPerMillionSeconds)
            case .closed(let time):
                let think = (time.think.lowerBound + time.think.upperBound) / 2
                let cycle = max(1, (think + self.scanTime(of: group)).nanoseconds)
                return sum
                    + Int64(clamping: UInt128(group.spec.devices) * 1_000_000_000_000_000 / UInt128(cycle))
            }
        }
    }

    /// The bytes of the largest usual upload of any group.
    fileprivate var uploadBytesTypical: Int64 {
        self.groups.map { group in
            group.profile.journey.hasPhotos ? Int64(Self.photoBytesTypical) : 4_096
        }.max() ?? 0
    }
}
