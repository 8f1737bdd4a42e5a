/// What a collector of OpenTelemetry has taken of a run.
package struct ExportSummary: Hashable, Sendable {
    package let url: String
    /// Spans.
    package var exported = 0
    package var dropped = 0
    package var hasMetrics = false
    /// The last failure in words; nil if there was none.
    package var trouble: String?

    package init(url: String) { self.url = url }

    package var isWhole: Bool { self.dropped == 0 && self.hasMetrics }

    /// Adds that of another process.
    mutating func add(_ other: ExportSummary) {
        self.exported += other.exported
        self.dropped += other.dropped
        self.hasMetrics = self.hasMetrics && other.hasMetrics
        self.trouble = self.trouble ?? other.trouble
    }
}

extension RunResult {
    /// Nil without a collector.
    package var export: ExportSummary? {
        self.remarks.lazy.compactMap { remark in
            if case .end(.exported(let summary)) = remark { summary } else { nil }
        }.first
    }
}
