/// `report.md`, for a pull request.
package enum MarkdownReport {
    package static func text(_ result: RunResult) -> String { "" }
}
