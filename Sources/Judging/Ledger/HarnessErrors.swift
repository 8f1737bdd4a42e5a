import SimBase
import Talaria

/// The errors of the harness: their number, and the first of them as text.
struct HarnessErrors: Sendable {
    static let textsMax = 5

    private(set) var count = 0
    private(set) var texts: [String] = []

    mutating func add(
        _ text: @autoclosure () -> String, device: DeviceNumber?, scan: ScanNumber, at moment: Instant
    ) {
        self.count += 1
        guard self.texts.count < Self.textsMax else { return }
        let context = device.map { " (device \($0.raw), scan \(scan.raw), at \(moment.nanoseconds) ns)" }
        self.texts.append(text() + (context ?? ""))
    }
}
