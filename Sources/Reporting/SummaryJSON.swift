/// `summary.json` (DESIGN.md section 8).
package enum SummaryJSON {
    package static func bytes(_ result: RunResult) -> [UInt8] { JSONValue.object([:]).text }
}
