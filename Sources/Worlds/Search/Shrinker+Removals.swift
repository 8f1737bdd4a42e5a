import Faults
import Ledger
import Observations
import Phone
import Plan
import SimBase
import VirtualWorld

extension Shrinker {
    /// Lists the captures one by one, as they were made, so that each can be removed.
    mutating func listCaptures() {
        let isListed = self.plan.captures != nil && !self.plan.run.groups.contains { $0.spec.isClosed }
        guard !isListed else { return }
        var made: [Arrival] = []
        var ordinals: [DeviceNumber: Int] = [:]
        let random = self.plan.run.random
        _ = Trial.outcome(
            of: self.plan,
            observe: { observation in
                guard case .phone(.captured(let scheduled)) = observation.what else { return }
                let ordinal = ordinals[observation.device, default: 0] + 1
                ordinals[observation.device] = ordinal
                made.append(
                    Arrival(
                        scheduled: scheduled, device: observation.device, ordinal: ordinal,
                        photoDraw: Arrival.photoDraw(random, observation.device, ordinal)))
            })
        self.attempt("captures listed") { plan in
            plan.captures = made
            plan.changeScenario { scenario in
                for index in scenario.groups.indices where scenario.groups[index].isClosed {
                    scenario.groups[index].load = .open(SwarmPlans.noRate, .uniform)
                }
            }
        }
    }

    /// Removes faults: all of one kind, then halves, then single ones.
    mutating func removeFaults() {
        let names = self.plan.run.scenario.faults.map(\.kind.name)
        for name in Set(names).sorted() where names.count > 1 {
            self.attempt("faults: all \(name) removed") { plan in
                plan.changeScenario { $0.faults.removeAll { $0.kind.name == name } }
            }
        }
        self.reduce("faults", self.plan.run.scenario.faults.map(\.id)) { plan, ids in
            plan.changeScenario { $0.faults.removeAll { ids.contains($0.id) } }
        }
    }

    /// Removes the captures of whole phones.
    mutating func removePhones() {
        let phones = Set((self.plan.captures ?? []).map(\.device)).sorted()
        self.reduce("phones", phones) { plan, phones in
            plan.captures?.removeAll { phones.contains($0.device) }
        }
    }

    mutating func removeCaptures() {
        self.reduce("captures", self.plan.captures ?? []) { plan, captures in
            plan.captures?.removeAll { captures.contains($0) }
        }
    }

    /// Leaves out what the failure does not need in addition to faults and captures.
    mutating func quieten() {
        self.attempt("no phone stays offline") { $0.staysOffline = .never }
        self.attempt("simultaneous events in fixed order") { $0.shufflesTies = false }
        self.attempt("data arrives whole") { $0.splits = false }
        // What is judged after a settled end needs one.
        if !self.kind.isAboutTheEnd { self.attempt("no settling") { $0.settle = nil } }
        self.attempt("one book a scan") { plan in plan.changeScenario { $0.server.books = 1...1 } }
        for index in self.plan.run.groups.indices {
            self.attempt("perfect link") { plan in
                plan.changeScenario {
                    $0.groups[index].network = .always(NamedLink(name: "perfect", profile: .perfect))
                }
            }
        }
    }

    /// Leaves only the phones that capture something, numbered from 0.
    mutating func dropIdlePhones() {
        let active = Set((self.plan.captures ?? []).map(\.device)).sorted()
        guard active.count < self.plan.run.devices, !active.isEmpty else { return }
        self.attempt("idle phones removed") { $0.keepPhones(active) }
    }
}

extension FailureKind {
    /// Whether it is judged only after all faults have ended and everybody had time to settle.
    var isAboutTheEnd: Bool {
        if case .invariant(let invariant, _) = self { invariant.isAtRest } else { false }
    }
}

extension FleetGroup {
    var isClosed: Bool { if case .closed = self.load { true } else { false } }
}

extension WorldPlan {
    /// Keeps these phones, numbers them from 0 in their order, and leaves out groups without phones.
    mutating func keepPhones(_ phones: [DeviceNumber]) {
        let counts = self.run.groups.map { group in phones.count { group.devices.contains($0.raw) } }
        let kept = counts.indices.filter { counts[$0] > 0 }
        let sizes = self.photoSizes
        self.captures = self.captures?.compactMap { capture in
            guard let index = phones.firstIndex(of: capture.device) else { return nil }
            var capture = capture
            capture.device = DeviceNumber(UInt32(index))
            return capture
        }
        self.changeScenario { scenario in
            scenario.groups = kept.map { index in
                var group = scenario.groups[index]
                group.devices = counts[index]
                return group
            }
            scenario.faults.removeAll { fault in
                switch fault.scope {
                case .group(let name): !scenario.groups.contains { $0.name == name }
                case .phone(let number): !phones.contains(number)
                case .everyone, .share: false
                }
            }
            for index in scenario.faults.indices {
                guard case .phone(let number) = scenario.faults[index].scope,
                    let place = phones.firstIndex(of: number)
                else { continue }
                scenario.faults[index].scope = .phone(DeviceNumber(UInt32(place)))
            }
        }
        self.photoSizes = kept.map { sizes[$0] }
    }
}
