import Observations
import SimBase
import Talaria
import Testing

@testable import RunMetrics

/// Where the time of scans goes.
@Suite struct ActivityAccountTests {
    private static let phone = DeviceNumber(3)

    /// The milliseconds of the activities that took time, of a scan.
    private func times(_ times: ActivityTimes?) -> [String] {
        times.map { times in SlowTime.parts { times[$0] }.map(Self.text) } ?? []
    }

    private static func text(_ part: SlowTime.Part) -> String {
        "\(part.activity.rawValue) \(part.time.wholeMilliseconds)"
    }

    /// Each observation with its time in milliseconds; scan 0 is the phone.
    private func account(
        _ story: [(Int64, UInt32, PhoneObservation)]
    ) -> (ended: [UInt32: ActivityTimes], account: ActivityAccount) {
        var account = ActivityAccount()
        var ended: [UInt32: ActivityTimes] = [:]
        for (moment, scan, payload) in story {
            let times = account.record(
                payload, of: ScanNumber(scan), on: Self.phone, at: .zero + .milliseconds(moment))
            if let times { ended[scan] = times }
        }
        return (ended, account)
    }

    @Test func `a photo is prepared before it is noted`() {
        let found = self.account([
            (0, 1, .captured(scheduled: .zero)),
            (500, 1, .photoPrepared(took: .milliseconds(200), bytes: 9)),
            (600, 1, .requestSent(.upload, attempt: 1, job: nil, lastEventID: nil)),
            (900, 1, .completed(took: .milliseconds(900))),
        ])
        #expect(self.times(found.ended[1]) == ["queue 400", "upload 300", "preparing 200"])
        #expect(found.ended[1]?.total == .milliseconds(900))
        #expect(found.ended[1]?.longest == .queue)
    }

    @Test func `what befalls the phone befalls all its scans`() {
        let found = self.account([
            (0, 1, .captured(scheduled: .zero)), (0, 2, .captured(scheduled: .zero)),
            (100, 1, .rateLimited(.upload, retryAfter: .milliseconds(300))),
            (600, 0, .pathLost), (800, 0, .pathReturned),
            (900, 0, .suspended), (1_000, 0, .resumed),
            (1_100, 1, .completed(took: .zero)), (1_200, 2, .refused(code: "X", cause: nil)),
        ])
        #expect(self.times(found.ended[1]) == ["queue 500", "limited 300", "offline 200", "closed 100"])
        #expect(self.times(found.ended[2]) == ["queue 600", "limited 300", "offline 200", "closed 100"])
    }

    @Test func `an open scan has its time so far, and one that went with the app has none`() {
        let story: [(Int64, UInt32, PhoneObservation)] = [
            (100, 1, .captured(scheduled: .zero)),
            (200, 1, .streamOpened(job: "j", attempt: 1, after: nil, took: .zero)),
        ]
        let open = self.account(story).account.open(at: .zero + .seconds(1))
        #expect(open.map(\.scan) == [ScanNumber(1)] && open.map(\.device) == [Self.phone])
        #expect(self.times(open.first?.times) == ["server 800", "queue 200"])
        let gone = self.account(story + [(300, 0, .reinstalled(discarded: 1))]).account
        #expect(gone.open(at: .zero + .seconds(1)).isEmpty)
    }

    // MARK: The slow ones

    private func row(_ scan: UInt32, _ seconds: Int64, _ end: ScanEnd = .completed) -> ScanRow {
        var row = ScanRow(device: Self.phone, scan: ScanNumber(scan), at: .zero)
        row.end = end
        row.spent.add(.seconds(seconds) - .milliseconds(1), to: .upload)
        row.spent.add(.milliseconds(1), to: .server)
        return row
    }

    @Test func `scans above the limit are slow`() {
        let rows = [1, 5, 6, 9].enumerated().map { self.row(UInt32($0.offset), $0.element) }
        let slow = SlowTime(of: rows + [self.row(7, 20, .unfinished)], limit: .seconds(5))
        #expect(slow?.isLimit == true && slow?.least == .seconds(5))
        #expect(slow?.scans == 3 && slow?.known == 5 && slow?.unfinished == 1)
        #expect(slow?.parts.map(Self.text) == ["upload 34997", "server 3"])
        #expect(slow?.total == .seconds(35))
    }

    @Test func `without one above a limit the slowest twentieth is slow`() {
        let rows = (1...40).map { self.row(UInt32($0), Int64($0)) }
        for limit in [nil, Interval.seconds(40)] {
            let slow = SlowTime(of: rows, limit: limit)
            #expect(slow?.isLimit == false && slow?.least == .seconds(39), "\(String(describing: limit))")
            #expect(slow?.scans == 2 && slow?.known == 40 && slow?.total == .seconds(79))
        }
        #expect(
            SlowTime(of: [ScanRow(device: Self.phone, scan: ScanNumber(1), at: .zero)], limit: nil) == nil)
        #expect(SlowTime(of: [self.row(1, 3)], limit: nil)?.scans == 1)
    }
}
