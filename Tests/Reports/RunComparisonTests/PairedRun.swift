import Metrics
import RunMetrics
import SimBase
import Talaria

/// The scans of a run of six phones in two groups, 40 each, one a second.
struct PairedRun {
    static let fleet = """
        fleet:
          commuters:
            phones: 3
            scans: 40
            network: lte
          readers:
            phones: 3
            scans: 40
            network: lte

        """

    /// Changes a row; returns whether it stays.
    var change: (inout ScanRow) -> Bool = { _ in true }

    /// The number of a row, from 0, in the order of the captures.
    static func number(_ row: ScanRow) -> Int { Int(row.at.nanoseconds / 1_000_000_000) }

    var table: ScanTable {
        var table = ScanTable()
        for index in 0..<240 {
            var row = ScanRow(
                device: DeviceNumber(UInt32(index % 6)), scan: ScanNumber(UInt32(index / 6 + 1)),
                at: .zero + .seconds(Int64(index)))
            row.end = .completed
            row.books = 6
            for metric in ScanTable.metrics where metric != .cancelTime {
                row.record(metric, .milliseconds(Int64(100 + index * 37 % 101)))
            }
            if self.change(&row) { table.add(row) }
        }
        return table
    }
}

extension ScanRow {
    /// Makes a time longer or shorter.
    mutating func multiply(_ metric: LatencyMetric, by factor: Double) {
        guard let time = self[metric] else { return }
        self.forget(metric)
        self.record(metric, .nanoseconds(Int64(Double(time.nanoseconds) * factor)))
    }

    mutating func forget(_ metric: LatencyMetric) {
        if let column = ScanTable.metrics.firstIndex(of: metric) { self.times[column] = .max }
    }
}
