import RunDriver
import RunJudge

/// `--otlp URL`: the collector that gets the spans and the metrics of a run.
enum CollectorOption {
    static let option = Option(
        name: "--otlp", value: "URL",
        help:
            "export the spans that phones name in `traceparent`, and the metrics at the end, to this collector (OTLP by HTTP and JSON), for example http://127.0.0.1:4318"
    )
    /// Those of the options of a target that are about a collector as well.
    static let shared = ["--cacert", "--allow-target", "--allow-production"]

    /// Where there is no target, and the options of one are not all there.
    static let withoutTarget = [Self.option] + TargetOptions.options.filter { Self.shared.contains($0.name) }

    /// Throws if options that are about a collector are given without one, to a command without targets.
    static func requireUse(_ arguments: Arguments) throws {
        guard !arguments.has(Self.option.name), let useless = Self.shared.first(where: arguments.has) else {
            return
        }
        throw CommandFailure(.usage, "\(useless) requires \(Self.option.name)")
    }

    /// Nil without the option.
    static func read(_ arguments: Arguments) throws -> TargetURL? {
        guard let text = arguments[Self.option.name] else { return nil }
        return try TargetURL(collector: text, option: Self.option.name, arguments)
    }
}
