import Observations
import Reports
import SimBase
import Talaria
import Testing

@Suite struct StoryOrderTests {
    private static func seen(
        _ milliseconds: Int64, _ what: ObservationPayload, device: UInt32 = 1, scan: UInt32 = 1
    ) -> Observation {
        Observation(
            at: .zero + .milliseconds(milliseconds), device: DeviceNumber(device), scan: ScanNumber(scan),
            what: what)
    }

    private static let reply = seen(5, .phone(.replied(.upload, attempt: 1, status: 503, took: .zero)))
    private static let answer = seen(5, .backend(.answered(.upload, attempt: 1, status: 503)))
    private static let fault = seen(5, .fault(.fired(fault: 0, .upload, attempt: 1)))

    @Test func `a fault stands before the answer that it makes, and the answer before its arrival`() {
        let ordered = StoryOrder.causesFirst([Self.reply, Self.answer, Self.fault])
        #expect(ordered == [Self.fault, Self.answer, Self.reply])
        #expect(StoryOrder.causesFirst(ordered) == ordered)
    }

    @Test func `what belongs to another attempt, phone, scan or time stays in its place`() {
        for other in [
            Self.seen(5, .backend(.answered(.upload, attempt: 2, status: 503))),
            Self.seen(5, .backend(.answered(.results, attempt: 1, status: 503))),
            Self.seen(5, .backend(.answered(.upload, attempt: 1, status: 503)), device: 2),
            Self.seen(5, .backend(.answered(.upload, attempt: 1, status: 503)), scan: 2),
            Self.seen(6, .backend(.answered(.upload, attempt: 1, status: 503))),
        ] {
            #expect(StoryOrder.causesFirst([Self.reply, other]) == [Self.reply, other])
        }
    }

    @Test func `a lost stream follows the faults that cut it`() {
        let lost = Self.seen(5, .phone(.streamLost(job: "j", attempt: 1, .reset, silence: nil)))
        let cuts = [0, 1].map { Self.seen(5, .fault(.fired(fault: $0, .stream, attempt: 1))) }
        #expect(StoryOrder.causesFirst([lost] + cuts) == cuts + [lost])
    }

    @Test func `an event is sent before it is applied`() {
        let applied = Self.seen(
            5, .phone(.eventApplied(job: "j", id: "7", kind: .progress, latency: nil, replayed: false)))
        let sent = Self.seen(
            5, .backend(.eventWritten(job: "j", id: "7", position: 1, kind: .progress, replayed: false)))
        #expect(StoryOrder.causesFirst([applied, sent]) == [sent, applied])
        #expect(StoryOrder.isArrival(applied, of: sent))
        #expect(!StoryOrder.isArrival(sent, of: applied))
        #expect(!StoryOrder.isArrival(Self.reply, of: sent))
        #expect(StoryOrder.isArrival(Self.reply, of: Self.answer))
        let late = Self.seen(6, .phone(.replied(.upload, attempt: 1, status: 503, took: .zero)))
        #expect(!StoryOrder.isArrival(late, of: Self.answer))
    }
}

@Suite struct ScanRemainsTests {
    private static func text(_ what: [ObservationPayload]) -> String {
        ScanRemains(
            what.map { Observation(at: .zero, device: DeviceNumber(1), scan: ScanNumber(3), what: $0) }
        ).text(ScanNumber(3), WorkNoun(.scan))
    }

    @Test func `a scan without a job has no books`() {
        #expect(
            Self.text([.phone(.captured(scheduled: .zero))])
                == "scan 3 is not finished; 0 jobs created, 0 deleted by the phone")
    }

    @Test func `its books and jobs are counted`() {
        let accepted = ObservationPayload.backend(.accepted(job: "a", books: 2))
        #expect(
            Self.text([accepted, accepted, .backend(.cleaned(job: "a", effective: true))])
                == "scan 3 is not finished; 0 of 2 books in the library; 2 jobs created, 1 deleted by the phone"
        )
        #expect(
            Self.text([
                accepted, .backend(.cleaned(job: "a", effective: false)), .phone(.completed(took: .zero)),
            ])
                == "scan 3 is completed; 0 of 2 books in the library; 1 job created, 0 deleted by the phone")
        #expect(Self.text([.phone(.refused(code: "X", cause: nil))]).hasPrefix("scan 3 is refused (X)"))
    }
}
