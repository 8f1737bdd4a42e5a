import Ledger
import LivePhones
import Plan
import SimBase
import Testing

@testable import RunDriver

@Suite struct ProgressLineTests {
    @Test func `a line has the time, the captures, the phones and the seed`() {
        let progress = ProgressLine(
            Console(environment: [:]), isQuiet: true,
            expectedArrivals: ExpectedArrivals(scansByGroup: [30, 10], lastArrival: .zero + .seconds(90)),
            seed: 7)
        var gauges = FleetGauges()
        gauges.captured = 12
        gauges.phonesBusy = 3
        gauges.phonesOffline = 1
        #expect(
            progress.text(at: .zero + .seconds(65), gauges, ScanTotals())
                == "1:05  arrivals until 1:30  captured 12/40  completed 0  busy 3  offline 1  seed 7")
    }

    @Test(arguments: [
        (12, "0:05  busy 3"), (11, "0:05"), (3, "0:0"), (0, ""),
    ]) func `a line that is too long loses its last parts`(columns: Int, text: String) {
        #expect(Console.fitted("0:05  busy 3", columns: columns) == text)
    }
}
