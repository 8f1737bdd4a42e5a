import Histories
import Ledger
import Metrics
import Observations
import SimBase
import Talaria

// The books that the phone has read by itself.

extension TextRule {
    static let example = TextRule(readsAnswers: true, photoBelow: 80, retriesMax: 3)
}

extension LedgerSettings {
    /// One group, whose phones read books by themselves.
    static var reading: Self {
        var settings = Self.embedded
        settings.fleet = PhoneGroups(groups: ["all"], groupOfDevice: [0])
        settings.texts = [.example]
        return settings
    }
}

extension InvariantRow {
    static let textKeptForCause = InvariantRow(
        broken: .read("a look-up is answered, and the book keeps what was read") {
            $0.lookUp(1, found: true)
            $0.phone(.readingKept(.unreadableAnswer))
        },
        kept: .read("a look-up is answered, and the answer is merged") {
            $0.lookUp(1, found: true)
            $0.merge()
        },
        excuses: [
            Excuse(
                name: "the last of four look-ups failed",
                inside: .read("kept after four") {
                    for attempt in 1...4 { $0.lookUp(UInt32(attempt), failing: .reset) }
                    $0.phone(.readingKept(.transport))
                },
                outside: .read("kept after three") {
                    for attempt in 1...3 { $0.lookUp(UInt32(attempt), failing: .reset) }
                    $0.phone(.readingKept(.transport))
                }),
            Excuse(
                name: "a response that does not allow a retry",
                inside: .read("kept after a 422") {
                    $0.send(.upload, job: nil)
                    $0.uploadProblem(422)
                    $0.phone(.readingKept(.unexpectedStatus))
                },
                outside: .read("kept after a 503") {
                    $0.send(.upload, job: nil)
                    $0.uploadProblem(503, retryable: true)
                    $0.phone(.readingKept(.unexpectedStatus))
                }),
            Excuse(
                name: "a fault has changed the response",
                inside: .read("a body that a fault has changed cannot be read") {
                    $0.lookUp(1, found: true)
                    $0.fault(.fired(fault: Fault.answers, .upload, attempt: 1))
                    $0.phone(.badAnswer(.upload, attempt: 1, .undecodable))
                    $0.phone(.readingKept(.unreadableAnswer))
                },
                outside: .read("a fault has changed an earlier one") {
                    $0.lookUp(1, failing: .reset)
                    $0.fault(.fired(fault: Fault.answers, .upload, attempt: 1))
                    $0.lookUp(2, found: true)
                    $0.phone(.badAnswer(.upload, attempt: 2, .undecodable))
                    $0.phone(.readingKept(.unreadableAnswer))
                }),
            Excuse(
                name: "no look-up by text",
                inside: .read("the photo after a 405") {
                    $0.send(.upload, job: nil)
                    $0.uploadProblem(405)
                    $0.phone(.photoInstead(.noEndpoint))
                },
                outside: .read("the photo after a 400") {
                    $0.send(.upload, job: nil)
                    $0.uploadProblem(400)
                    $0.phone(.photoInstead(.noEndpoint))
                }),
            Excuse(
                name: "the process knows that there is no look-up by text",
                inside: .read("the photo of the next book") {
                    $0.send(.upload, job: nil)
                    $0.uploadProblem(404)
                    $0.phone(.photoInstead(.noEndpoint))
                    $0.scan = ScanNumber(2)
                    $0.capture()
                    $0.phone(.photoInstead(.noEndpoint))
                },
                outside: .read("the photo of the next book in the next process") {
                    $0.send(.upload, job: nil)
                    $0.uploadProblem(404)
                    $0.phone(.photoInstead(.noEndpoint))
                    $0.phone(.killed)
                    $0.launch(restored: 1)
                    $0.scan = ScanNumber(2)
                    $0.capture()
                    $0.phone(.photoInstead(.noEndpoint))
                }),
        ],
        scenario: ShippedScenario(name: "text-enrichment"))
}

extension Example {
    /// A book that was read, and what follows.
    fileprivate static func read(
        _ name: String, _ script: @escaping @Sendable (inout History) -> Void
    ) -> Example {
        Example(name) {
            $0.launch()
            $0.capture()
            $0.phone(.bookRead(took: .milliseconds(500)))
            script(&$0)
            for number in 1...$0.scan.raw {
                $0.scan = ScanNumber(number)
                $0.onDisk(.captured)
            }
        }
    }
}

extension History {
    /// A look-up that is answered with 200. `found`: the backend says that it was it.
    mutating func lookUp(_ attempt: UInt32, found: Bool) {
        self.send(.upload, attempt: attempt, job: nil)
        if found { self.backend(.textLookedUp) }
        self.phone(.replied(.upload, attempt: attempt, status: 200, took: .milliseconds(3)))
    }

    mutating func lookUp(_ attempt: UInt32, failing failure: TransportFailure) {
        self.send(.upload, attempt: attempt, job: nil)
        self.phone(.requestFailed(.upload, attempt: attempt, failure, took: .milliseconds(3)))
    }

    mutating func merge() {
        self.phone(
            .enriched(
                TextOutcome(title: .talaria, author: .talaria, discrepancies: 0), took: .seconds(1),
                service: .milliseconds(8)))
    }
}
