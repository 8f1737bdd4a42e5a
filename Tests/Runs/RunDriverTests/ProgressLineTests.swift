import Ledger
import LivePhones
import Plan
import SimBase
import Testing

@testable import RunDriver

@Suite struct ProgressLineTests {
    static let outlook = RunOutlook(
        phones: 20, scans: 40, lastArrival: .zero + .seconds(90), scanTime: .seconds(5), drain: .seconds(30),
        isClosed: false)

    private static func standing(
        at seconds: Int64, captured: Int, completed: Int, errors: Int = 2
    ) -> RunStanding {
        var gauges = FleetGauges()
        gauges.captured = captured
        gauges.phonesBusy = 3
        gauges.phonesOffline = 1
        var scans = ScanTotals()
        scans.completed = completed
        return RunStanding(
            at: .zero + .seconds(seconds), RunProgress(gauges, scans, errors: errors))
    }

    private static func text(
        _ standing: RunStanding, now: Int64? = nil, _ outlook: RunOutlook = Self.outlook
    ) -> String {
        ProgressLine(Console(environment: [:]), isQuiet: true, outlook: outlook, seed: 7)
            .text(standing, now: now.map { .zero + .seconds($0) } ?? standing.moment)
    }

    @Test func `a line has the time, the share, what is left, the phase and the counts`() {
        #expect(
            Self.text(Self.standing(at: 65, captured: 12, completed: 10))
                == "1:05  25%  0:30 left  arrivals  captured 12/40  done 10  errors 2  busy 3  offline 1  seed 7"
        )
    }

    @Test func `what matters fits into 80 columns`() {
        var standing = Self.standing(at: 65, captured: 123, completed: 100, errors: 12)
        standing.progress.failed = 4
        var outlook = Self.outlook
        outlook.scans = 400
        let line = Console.fitted(Self.text(standing, outlook), columns: 79)
        #expect(
            line == "1:05  26%  0:30 left  arrivals  captured 123/400  done 100  errors 12  failed 4")
    }

    @Test func `when all have arrived the drain is the limit`() {
        let standing = Self.standing(at: 100, captured: 40, completed: 39)
        #expect(Self.text(standing).hasPrefix("1:40  97%  up to 0:20 left  drain  captured 40/40"))
        let late = Self.standing(at: 125, captured: 40, completed: 39)
        #expect(Self.text(late).hasPrefix("2:05  97%  drain  captured 40/40  done 39  errors 2  busy 3"))
    }

    @Test func `a pause is shown with what it holds back`() {
        var standing = Self.standing(at: 30, captured: 8, completed: 8)
        standing.isPaused = true
        standing.progress.heldBack = 5
        let line = Self.text(standing)
        #expect(line.contains("  paused  captured 8/40") && line.contains("  held back 5  "))
    }

    @Test func `a simulated run tells the time of its reader`() {
        // 65 s were simulated in 6.5 s.
        let line = Self.text(Self.standing(at: 60, captured: 12, completed: 10), now: 6)
        #expect(line.hasPrefix("1:00  25%  0:03 left"))
    }

    @Test func `in a closed model the scans tell what is left`() {
        var outlook = Self.outlook
        outlook.isClosed = true
        let line = Self.text(Self.standing(at: 30, captured: 12, completed: 10), outlook)
        #expect(line.hasPrefix("0:30  25%  1:30 left  arrivals"))
        #expect(
            Self.text(Self.standing(at: 30, captured: 1, completed: 0), outlook).hasPrefix("0:30  0%  arr"))
        #expect(Self.text(Self.standing(at: 95, captured: 40, completed: 40), outlook).contains("  drain  "))
    }

    @Test(arguments: [
        (12, "0:05  busy 3"), (11, "0:05"), (3, "0:0"), (0, ""),
    ]) func `a line that is too long loses its last parts`(columns: Int, text: String) {
        #expect(Console.fitted("0:05  busy 3", columns: columns) == text)
    }

    // MARK: The banner

    @Test func `the banner says what comes`() {
        #expect(
            Self.outlook.banner(target: "http://127.0.0.1:8080", folder: "Reports/x")
                == "20 phones, 40 scans, about 0.4/s against http://127.0.0.1:8080, about 95 s; reports in Reports/x"
        )
    }

    @Test(arguments: [
        (1, 1, 20, "1 phone, 1 scan, about 0.1/s against the simulated backend, about 25 s; reports in x"),
        (
            9, 100, 50,
            "9 phones, 100 scans, about 2/s against the simulated backend, about 55 s; reports in x"
        ),
        (
            9, 10, 7_200,
            "9 phones, 10 scans, about 5/h against the simulated backend, about 2 h 0 min; reports in x"
        ),
        (
            9, 10, 600,
            "9 phones, 10 scans, about 60/h against the simulated backend, about 10 min; reports in x"
        ),
        (9, 10, 0, "9 phones, 10 scans against the simulated backend, about 5 s; reports in x"),
    ]) func `rates and times have fitting units`(phones: Int, scans: Int, seconds: Int64, text: String) {
        let outlook = RunOutlook(
            phones: phones, scans: scans, lastArrival: .zero + .seconds(seconds), scanTime: .seconds(5),
            drain: .zero, isClosed: false)
        #expect(outlook.banner(target: nil, folder: "x") == text)
    }

    @Test func `the backend sets the rate of a closed model`() {
        var outlook = Self.outlook
        outlook.isClosed = true
        #expect(!outlook.banner(target: nil, folder: "x").contains("/s"))
    }
}
