import JSON
import Ledger
import SimBase

/// The windows of a `SurgeRecord` as one text: five numbers of each, all numbers of a kind together, which pack best. The first is
/// the distance from the window before, the last the phone that came last, from 1, or 0 for none.
enum SurgeCode {
    private static let columns = 5

    /// Nil when memory is short.
    static func text(_ windows: [SurgeWindow]) -> String? {
        var numbers: [Int64] = []
        numbers.reserveCapacity(windows.count * Self.columns)
        var last: Int64 = 0
        for window in windows {
            numbers.append(window.number - last)
            last = window.number
        }
        numbers += windows.map(\.begins)
        numbers += windows.map(\.ends)
        numbers += windows.map(\.came)
        numbers += windows.map { $0.lastCame.map { Int64($0.raw) + 1 } ?? 0 }
        return PackedNumbers.text(numbers)
    }

    /// Nil for what are not such windows.
    static func windows(_ text: String) -> [SurgeWindow]? {
        let countMax = SurgeRecord.windowsMax
        guard let numbers = PackedNumbers.numbers(text, countMax: countMax * Self.columns),
            numbers.count % Self.columns == 0,
            numbers.allSatisfy({ (0...Int64(JSONNode.countMax)).contains($0) })
        else { return nil }
        let count = numbers.count / Self.columns
        let columns = (0..<Self.columns).map { numbers[(count * $0)..<(count * $0 + count)] }
            .map { Array($0) }
        var windows: [SurgeWindow] = []
        var number: Int64 = 0
        for index in 0..<count {
            number += columns[0][index]
            guard number <= Int64(JSONNode.countMax), index == 0 || columns[0][index] > 0 else { return nil }
            var window = SurgeWindow(number)
            window.begins = columns[1][index]
            window.ends = columns[2][index]
            window.came = columns[3][index]
            if columns[4][index] > 0 {
                guard let device = UInt32(exactly: columns[4][index] - 1) else { return nil }
                window.lastCame = DeviceNumber(device)
            }
            windows.append(window)
        }
        return windows
    }
}
