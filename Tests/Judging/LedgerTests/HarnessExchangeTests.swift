import Histories
import Metrics
import Observations
import SimBase
import Talaria
import Testing

@testable import Ledger

/// A fault that fired has had its effect, and an effect that only a fault explains has its fault.
@Suite struct HarnessExchangeTests {
    private static func effectless(_ operation: Talaria.Operation) -> String {
        "fault 1 of the list fired (\(operation.name), attempt 1) without effect"
    }

    @Test func `a scan from its upload to its DELETE shows no error`() {
        #expect(HarnessStory { $0.journey() }.errors() == [])
        let two = HarnessStory {
            $0.journey()
            ($0.device, $0.scan, $0.job) = (DeviceNumber(1), ScanNumber(4), "job-2")
            $0.journey()
        }
        #expect(two.errors() == [])
    }

    @Test func `what it remembers of a phone does not grow with its scans`() {
        func remembered(afterScans count: UInt32) -> Int {
            let story = HarnessStory {
                for scan in 1...count {
                    ($0.scan, $0.job) = (ScanNumber(scan), "job-\(scan)")
                    $0.exchange(.upload, 503, by: 0)
                    $0.journey()
                    $0.pass(.minutes(1))
                }
            }
            let fleet = PhoneGroups(groups: ["all"], groupOfDevice: [0])
            var server = HarnessStory.server
            server.quota = Quota(requests: 5, window: .seconds(30))
            var witness = HarnessChecks(
                HarnessSettings(server: .simulated(server), faults: [.status(503)], fleet: fleet),
                shelf: History.shelf)
            for observation in story.observations { witness.record(observation) }
            #expect(witness.errors.count == 0)
            return witness.remembered
        }
        #expect(remembered(afterScans: 40) == remembered(afterScans: 160))
    }

    // MARK: Answers

    @Test func `a status is answered once in two seconds, and a 429 comes only before that`() {
        func story(_ second: Int, after pause: Interval) -> HarnessStory {
            HarnessStory {
                $0.upload()
                $0.exchange(.status, 200)
                $0.pass(pause)
                $0.exchange(.status, attempt: 2, second)
            }
        }
        #expect(story(200, after: .seconds(2)).errors() == [])
        #expect(story(429, after: .seconds(1)).errors() == [])
        #expect(
            story(200, after: .seconds(1)).errors() == [
                "the status of a job was answered again after 1003 ms"
            ])
        #expect(story(429, after: .seconds(2)).errors().count == 1)
    }

    @Test func `a status that is answered after its app was killed counts towards the next`() {
        func story(_ second: Int, after pause: Interval) -> [String] {
            HarnessStory {
                $0.upload()
                $0.ask(.status)
                $0.fault(.began(fault: 0))
                $0.phone(.killed)
                $0.backend(.answered(.status, attempt: 1, status: 200))
                $0.pass(pause)
                $0.phone(.launched(restored: 1))
                $0.exchange(.status, attempt: 2, second)
            }.errors([.ofPhone(.kill)])
        }
        #expect(story(429, after: .seconds(1)) == [])
        #expect(story(200, after: .seconds(2)) == [])
        #expect(story(429, after: .seconds(2)).count == 1)
        #expect(story(200, after: .seconds(1)) == ["the status of a job was answered again after 1002 ms"])
    }

    @Test(arguments: [Talaria.Operation.upload, .stream, .results, .cleanup, .status])
    func `an error that a fault answers with has its fault`(operation: Talaria.Operation) {
        func story(status: Int, by fault: Int?) -> HarnessStory {
            HarnessStory {
                if operation != .upload { $0.upload() }
                $0.exchange(operation, status, by: fault)
            }
        }
        #expect(story(status: 503, by: 0).errors([.status(503)]) == [])
        #expect(
            story(status: 503, by: nil).errors([.status(503)])
                == [
                    "\(operation.name) was answered with 503, but neither a fault nor anything else explains it"
                ])
        #expect(
            story(status: 503, by: 0).errors([.status(500)]) == [
                Self.effectless(operation),
                "\(operation.name) was answered with 503, but neither a fault nor anything else explains it",
                "a fault answered \(operation.name) with 500, but the phone got 503",
            ])
        #expect(
            story(status: 200, by: 0).errors([.status(503)]) == [
                Self.effectless(operation),
                "a fault answered \(operation.name) with 503, but the phone got 200",
            ])
    }

    @Test func `a foreign backend answers as it likes, and the gateway's own faults do what they say`() {
        func story(by fault: Int?, _ status: Int) -> HarnessStory {
            HarnessStory { $0.exchange(.upload, status, by: fault) }
        }
        #expect(story(by: nil, 503).errors(server: .gateway) == [])
        #expect(story(by: 0, 503).errors([.status(503)], server: .gateway) == [])
        #expect(
            story(by: 0, 202).errors([.status(503)], server: .gateway)
                == ["a fault answered upload with 503, but the phone got 202"])
    }

    @Test func `a phone gets the status that was sent`() {
        func story(_ status: Int) -> HarnessStory {
            HarnessStory {
                $0.ask(.upload)
                $0.backend(.accepted(job: $0.job, books: 3), .answered(.upload, attempt: 1, status: 202))
                $0.get(.upload, status)
            }
        }
        #expect(story(202).errors() == [])
        #expect(story(200).errors() == ["upload was answered with 202, but the phone got 200"])
    }

    @Test func `a phone gets no answer that nobody sent, unless it is a connection's own`() {
        func story(_ status: Int) -> HarnessStory {
            HarnessStory {
                $0.ask(.upload)
                $0.get(.upload, status)
            }
        }
        #expect(story(408).errors() == [])
        #expect(story(202).errors() == ["the phone got 202 for upload, which the backend never answered"])
    }

    @Test func `a backend that is full answers with 503 by itself`() {
        func story(jobs: Int) -> HarnessStory {
            HarnessStory {
                for scan in 1...jobs {
                    ($0.scan, $0.job) = (ScanNumber(UInt32(scan)), "job-\(scan)")
                    $0.upload()
                }
                $0.scan = ScanNumber(1_000)
                $0.exchange(.upload, 503)
            }
        }
        #expect(story(jobs: 100).errors() == [])
        #expect(story(jobs: 98).errors().count == 1)
    }

    // MARK: Connections

    @Test func `a connection that was refused carries nothing`() {
        func story(_ fault: Int?, _ what: (inout HarnessStory) -> Void) -> HarnessStory {
            HarnessStory {
                $0.phone(.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil))
                if let fault { $0.fault(.fired(fault: fault, .upload, attempt: 1)) }
                $0.pass()
                what(&$0)
                $0.pass(.seconds(9))
                $0.phone(.resumed)
            }
        }
        func fails(_ failure: TransportFailure) -> (inout HarnessStory) -> Void {
            { $0.phone(.requestFailed(.upload, attempt: 1, failure, took: .milliseconds(1))) }
        }
        #expect(story(0, fails(.connectRefused)).errors([.refused]) == [])
        #expect(story(0, fails(.noPath)).errors([.refused]) == [])
        #expect(story(nil, fails(.connectRefused)).errors() == ["a connection for upload was refused"])
        #expect(
            story(0, fails(.reset)).errors([.refused])
                == ["a connection for upload should have been refused, but was cut instead"])
        let passed = story(0) { $0.backend(.requested(.upload, attempt: 1, connection: 1)) }
        #expect(passed.errors([.refused]) == ["upload arrived on a connection that was refused"])
        let answered = story(0) { $0.get(.upload, 202) }
        #expect(
            answered.errors([.refused]).first
                == "upload was answered with 202 though its connection was refused")
    }

    @Test(arguments: [
        (LossCause.reset, CutEffect.reset), (.endWithoutTerminal, .close),
    ])
    func `a stream that is lost was cut`(cause: LossCause, cut: CutEffect) {
        func story(firedAfter: Interval?) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.phone(.streamLost(job: $0.job, attempt: 1, cause, silence: nil))
                if let firedAfter {
                    $0.pass(firedAfter)
                    $0.fault(.fired(fault: 0, .stream, attempt: 1))
                }
                $0.pass(.seconds(9))
                $0.phone(.resumed)
            }
        }
        let text =
            "a stream was lost (\(cause.rawValue)), but neither the backend nor a fault ended it in this way"
        // The phone may date it before the fault does, but not by much.
        #expect(story(firedAfter: .zero).errors([.cut(cut)]) == [])
        #expect(story(firedAfter: .seconds(1)).errors([.cut(cut)]) == [])
        #expect(story(firedAfter: .milliseconds(1_001)).errors([.cut(cut)]) == [text])
        #expect(story(firedAfter: nil).errors([.cut(cut)]) == [text])
    }

    @Test func `a phone may notice the end of a stream before the backend says it`() {
        func story(endedAfter: Interval?, byPeer: Bool = false) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.phone(.streamLost(job: $0.job, attempt: 1, .endWithoutTerminal, silence: nil))
                if let endedAfter {
                    $0.pass(endedAfter)
                    $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: byPeer))
                }
                // What the backend needs for it is another check.
                $0.fault(.fired(fault: 0, .stream, attempt: 2))
                $0.pass(.seconds(9))
                $0.phone(.resumed)
            }
        }
        func isDoubted(_ story: HarnessStory) -> Bool {
            story.errors([.noTerminal]).contains { $0.hasPrefix("a stream was lost") }
        }
        #expect(!isDoubted(story(endedAfter: .milliseconds(2))))
        #expect(isDoubted(story(endedAfter: .milliseconds(2), byPeer: true)))
        #expect(isDoubted(story(endedAfter: .milliseconds(1_001))))
        #expect(isDoubted(story(endedAfter: nil)))
    }

    @Test func `a stream is lost as it was cut`() {
        func story(_ cause: LossCause) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.pass()
                $0.phone(.streamLost(job: $0.job, attempt: 1, cause, silence: nil))
            }
        }
        #expect(story(.reset).errors([.cut(.reset)]) == [])
        #expect(story(.offline).errors([.cut(.reset)]) == [])
        #expect(story(.endWithoutTerminal).errors([.cut(.reset)]).count == 1)
        #expect(story(.endWithoutTerminal).errors([.cut(.close)]) == [])
        #expect(story(.reset).errors([.cut(.close)]).count == 1)
        #expect(story(.silence).errors([.cut(.silence)]) == [])
        #expect(story(.reset).errors([.cut(.silence)]).count == 1)
    }

    @Test func `a stream that was cut is noticed`() {
        func story(_ time: Interval) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.pass(time)
                $0.phone(.resumed)
            }
        }
        #expect(story(.seconds(5)).errors([.cut(.reset)]) == [])
        #expect(story(.seconds(6)).errors([.cut(.reset)]).count == 1)
        #expect(story(.seconds(6)).errors([.cut(.silence)]) == [])
    }

    @Test func `a request that is cut off has its fault, unless it never came`() {
        func story(comes: Bool, by fault: Int?) -> HarnessStory {
            HarnessStory {
                $0.phone(.requestSent(.upload, attempt: 1, job: nil, lastEventID: nil))
                $0.pass()
                if comes { $0.backend(.requested(.upload, attempt: 1, connection: 1)) }
                if let fault { $0.fault(.fired(fault: fault, .upload, attempt: 1)) }
                $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(1)))
                $0.pass(.seconds(3))
                $0.phone(.resumed)
            }
        }
        #expect(story(comes: true, by: 0).errors([.cut(.reset)]) == [])
        #expect(story(comes: true, by: nil).errors() == ["a connection for upload was cut"])
        #expect(story(comes: false, by: nil).errors() == [])
    }

    @Test func `nothing is held against a backend that has died`() {
        let story = HarnessStory {
            $0.begin()
            $0.pass(.milliseconds(500))
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.pass(.seconds(20))
            $0.phone(.resumed)
        }
        let died = story.observations[story.observations.count - 3].at
        #expect(story.errors().count == 1)
        #expect(story.errors(lostAfter: died + .milliseconds(1)) == [])
        #expect(story.errors(lostAfter: died + .seconds(1)) == [])
    }

    @Test func `what a fault delays takes its time`() {
        func story(took: Interval) -> HarnessStory {
            HarnessStory {
                $0.ask(.upload)
                $0.fault(.fired(fault: 0, .upload, attempt: 1))
                $0.backend(.accepted(job: $0.job, books: 3), .answered(.upload, attempt: 1, status: 202))
                $0.get(.upload, 202, took: took)
            }
        }
        #expect(story(took: .milliseconds(50)).errors([.delayed(by: .milliseconds(50))]) == [])
        #expect(story(took: .milliseconds(40)).errors([.delayed(by: .milliseconds(50))]).count == 1)
    }

    // MARK: Streams

    @Test func `the backend ends a stream only for a reason`() {
        func story(by fault: Int?, ends: Bool = true) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.pass()
                if ends { $0.backend(.streamEnded(job: $0.job, attempt: 1, byPeer: false)) }
                if let fault { $0.fault(.fired(fault: fault, .stream, attempt: 1)) }
                $0.pass()
                $0.phone(.streamLost(job: $0.job, attempt: 1, .endWithoutTerminal, silence: nil))
            }
        }
        #expect(story(by: 0).errors([.noTerminal]) == [])
        #expect(
            story(by: nil).errors()
                == [
                    "the backend ended a stream whose job continues, but neither a fault nor anything else explains it"
                ])
        #expect(story(by: 0, ends: false).errors([.noTerminal]).first == Self.effectless(.stream))
    }

    @Test func `a second terminal event is written by its fault`() {
        func story(second: Bool) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.pass()
                $0.write(2, .completed)
                if second { $0.write(3, .completed) }
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.backend(
                    .finished(job: $0.job, kind: .completed, books: 3),
                    .streamEnded(job: $0.job, attempt: 1, byPeer: false))
            }
        }
        #expect(story(second: true).errors([.secondTerminal]) == [])
        #expect(story(second: false).errors([.secondTerminal]) == [Self.effectless(.stream)])
    }

    @Test func `a stream that is to start over does not resume`() {
        func story(after: Int?) -> HarnessStory {
            HarnessStory {
                $0.upload()
                $0.ask(.stream, after: "100-progress")
                $0.backend(
                    .answered(.stream, attempt: 1, status: 200),
                    .streamOpened(job: $0.job, attempt: 1, after: after))
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
            }
        }
        #expect(story(after: nil).errors([.replayFromStart]) == [])
        #expect(story(after: 0).errors([.replayFromStart]) == [Self.effectless(.stream)])
    }

    @Test func `an event that means nothing was made by a fault, and one that was made comes`() {
        func story(by fault: Int?, comes: Bool) -> HarnessStory {
            HarnessStory {
                $0.begin()
                if let fault { $0.fault(.fired(fault: fault, .stream, attempt: 1)) }
                $0.pass()
                if comes {
                    $0.phone(.eventIgnored(job: $0.job, id: nil, name: "odd", malformed: false))
                }
                $0.end(2)
                $0.apply()
            }
        }
        #expect(story(by: 0, comes: true).errors([.eventAdded]) == [])
        #expect(story(by: 0, comes: true).errors([.eventGarbled]) == [])
        #expect(
            story(by: nil, comes: true).errors() == ["a stream had the event 'odd', which no fault sent"]
        )
        #expect(
            story(by: 0, comes: false).errors([.eventAdded])
                == ["faults added 1 events to a stream, but 0 arrived"])
    }

    @Test func `books that were stripped do not come`() {
        func story(inline: InlineBooksForm) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.end(2)
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
                $0.apply(inline: inline)
            }
        }
        #expect(story(inline: .absent).errors([.booksStripped]) == [])
        #expect(
            story(inline: .books).errors([.booksStripped])
                == ["an event had books that a fault had removed"])
    }

    @Test func `of results that a fault has reordered, no book is at its place`() {
        func story(by fault: Int?, places: [Int]) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.end(2)
                $0.apply()
                $0.exchange(.results, 200, by: fault)
                $0.phone(.resultsDecoded(job: $0.job, books: 3, took: .milliseconds(1)))
                for (place, ordinal) in places.enumerated() {
                    let book = History.shelf.book(device: $0.device, scan: $0.scan, ordinal: ordinal)
                    $0.phone(.bookAdded(ordinal: place, book: book))
                }
            }
        }
        #expect(story(by: 0, places: [1, 2, 0]).errors([.resultsReordered]) == [])
        #expect(story(by: nil, places: [0, 1, 2]).errors([.resultsReordered]) == [])
        #expect(
            story(by: 0, places: [2, 1, 0]).errors([.resultsReordered])
                == ["book 1 is at its place, but a fault had reordered the results"])
    }

    @Test func `results that were cut short cannot be read, and others can`() {
        func story(by fault: Int?, isRead: Bool) -> HarnessStory {
            HarnessStory {
                $0.begin()
                $0.end(2)
                $0.apply()
                $0.exchange(.results, 200, by: fault)
                if isRead {
                    $0.phone(.resultsDecoded(job: $0.job, books: 3, took: .milliseconds(1)))
                } else {
                    $0.phone(.badAnswer(.results, attempt: 1, .undecodable))
                }
            }
        }
        #expect(story(by: 0, isRead: false).errors([.resultsTruncated]) == [])
        #expect(
            story(by: 0, isRead: true).errors([.resultsTruncated])
                == ["results that a fault had truncated arrived complete"])
        #expect(
            story(by: nil, isRead: false).errors()
                == ["a response to results cannot be parsed, but no fault changed it"])
    }
}
