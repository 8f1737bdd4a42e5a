/// A run's result for the terminal, the verdict first.
package enum TerminalSummary {
    package static func text(_ result: RunResult, style: TerminalStyle) -> String {
        "\(result.exit == 0 ? "passed" : "FAILED") (exit \(result.exit))\n"
    }
}
