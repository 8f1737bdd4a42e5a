import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// What faults do to phones has happened to them, and nothing else has.
@Suite struct HarnessLifeTests {
    /// A phone that is on, and to which this happens at one instant.
    private static func errors(
        _ act: PhoneLifecycleEvent, begins: Bool, _ payloads: PhoneObservation...,
        before: [PhoneObservation] = [],
        hasTunnels: Bool = false
    ) -> [String] {
        HarnessStory { story in
            story.phone(.launched(restored: 0))
            for payload in before {
                story.pass()
                story.phone(payload)
            }
            story.pass()
            if begins { story.fault(.began(fault: 0)) }
            for payload in payloads { story.phone(payload) }
            story.pass()
            story.phone(.captured(scheduled: story.now))
        }.errors([.ofPhone(act)], hasTunnels: hasTunnels)
    }

    private static func unnoticed(_ act: PhoneLifecycleEvent) -> [String] {
        ["a fault of the phone began (\(act)), but the phone did not react"]
    }

    @Test(arguments: [
        (PhoneLifecycleEvent.kill, PhoneObservation.killed), (.offline, .pathLost), (.handover, .pathChanged),
        (.background, .suspended), (.clockSkew, .clockSet(ahead: .seconds(1))),
        (.storageFull, .storageFilled), (.reinstall, .reinstalled(discarded: 0)),
    ])
    func `what begins happens`(act: PhoneLifecycleEvent, payload: PhoneObservation) {
        #expect(Self.errors(act, begins: true, payload) == [])
        #expect(Self.errors(act, begins: true) == Self.unnoticed(act))
    }

    @Test(arguments: [
        (PhoneLifecycleEvent.kill, PhoneObservation.killed, "an app was killed without a fault"),
        (.handover, .pathChanged, "the path changed without a fault"),
        (.storageFull, .storageFilled, "a storage became full without a fault"),
        (.reinstall, .reinstalled(discarded: 0), "an app was reinstalled without a fault"),
    ])
    func `what happens has begun`(act: PhoneLifecycleEvent, payload: PhoneObservation, text: String) {
        #expect(Self.errors(act, begins: false, payload) == [text])
    }

    @Test func `a dead app does not notice`() {
        for act in [PhoneLifecycleEvent.offline, .handover, .background, .clockSkew] {
            let story = HarnessStory { story in
                story.phone(.launched(restored: 0))
                story.pass()
                story.fault(.began(fault: 1))
                story.phone(.killed)
                story.pass()
                story.fault(.began(fault: 0))
                story.pass()
                story.phone(.launched(restored: 0))
            }
            #expect(story.errors([.ofPhone(act), .ofPhone(.kill)]) == [])
        }
    }

    @Test func `what was so before stays so, and what is over at once may not show`() {
        #expect(Self.errors(.offline, begins: true, before: [.pathLost]) == [])
        #expect(
            Self.errors(.offline, begins: true, before: [.pathLost, .pathReturned])
                == Self.unnoticed(.offline))
        #expect(Self.errors(.background, begins: true, before: [.suspended]) == [])
        #expect(
            Self.errors(.background, begins: true, before: [.suspended, .resumed])
                == Self.unnoticed(.background))
        #expect(Self.errors(.kill, begins: true, .killed, .launched(restored: 0)) == [])
        #expect(Self.errors(.storageFull, begins: true, .storageFilled, .storageFreed) == [])
    }

    @Test func `of a phone on its way nobody knows whether it had a path`() {
        #expect(Self.errors(.offline, begins: true, hasTunnels: true) == [])
    }

    @Test func `a path that was lost while the app was dead is still lost when it starts`() {
        func story(ends: Bool) -> HarnessStory {
            HarnessStory { story in
                story.phone(.launched(restored: 0))
                story.pass()
                story.fault(.began(fault: 1))
                story.phone(.killed)
                story.pass()
                story.fault(.began(fault: 0))
                story.pass()
                if ends { story.fault(.ended(fault: 0)) }
                story.phone(.launched(restored: 0))
                story.pass()
                story.fault(.began(fault: 0))
                story.pass()
                story.phone(.captured(scheduled: story.now))
            }
        }
        #expect(story(ends: false).errors([.ofPhone(.offline), .ofPhone(.kill)]) == [])
        #expect(
            story(ends: true).errors([.ofPhone(.offline), .ofPhone(.kill)]) == Self.unnoticed(.offline))
    }
}
