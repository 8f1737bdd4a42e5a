import Metrics
import RunJudge

/// The meaning of a sign or a color. The raw value is the CSS class.
package enum Tone: String, Sendable {
    case good, warn, bad
    /// Neither good nor bad.
    case plain
    /// Not available or not judged.
    case unknown = "na"
    /// The run is in progress.
    case running = "going"

    private var look: (sign: String, emoji: String, ink: Ink) {
        switch self {
        case .good: ("✓", "✅", .good)
        case .warn: ("△", "⚠️", .warning)
        case .bad: ("✗", "❌", .bad)
        case .plain: ("", "", .plain)
        case .unknown: ("○", "", .dim)
        case .running: ("▶", "", .plain)
        }
    }

    package var sign: String { self.look.sign }
    /// The sign in Markdown, which has no colors.
    package var emoji: String { self.look.emoji }
    /// The color of the terminal.
    package var ink: Ink { self.look.ink }
}

extension ExitCode {
    package var tone: Tone {
        switch self {
        case .success: .good
        case .untrusted, .interrupted: .warn
        case .internalError, .cannotWrite, .invariantBroken, .sloFailed, .usage, .badData, .noInput,
            .unavailable, .impossible:
            .bad
        }
    }
}

extension RunResult {
    func tone(of slo: SLOResult) -> Tone {
        switch (slo.passed, slo.slo.severity) {
        case (true, _): .good
        case (false, _) where self.expectations.covers(slo): .warn
        case (false, .error): .bad
        case (false, .warn): .warn
        case (nil, _): .unknown
        }
    }
}
