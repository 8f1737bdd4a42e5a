import Ledger
import RunJudge

/// Reads `sometimes`: ids of coverage goals.
struct CoverageGoalReader {
    let findings: Findings

    func moments(_ node: Node?) -> [String] {
        guard let node else { return [] }
        guard case .list(let nodes) = node.content else {
            if case .reported = node.content { return [] }
            self.findings.add(
                node.location, "`sometimes` must be a list, not \(node.text)",
                help: "for example `sometimes: [stream-resumed, slots-full]`")
            return []
        }
        let known = CoverageGoal.allCases.map(\.rawValue)
        var moments: [String] = []
        for node in nodes {
            guard case .scalar(let text) = node.content else {
                self.findings.add(node.location, "expected the name of a situation, not \(node.text)")
                continue
            }
            guard known.contains(text) else {
                self.findings.add(
                    node.location, "unknown situation \(Findings.quoted(text))",
                    help: Values.didYouMean(text, known) ?? "use \(Values.list(known))")
                continue
            }
            guard !moments.contains(text) else {
                self.findings.add(node.location, "\(Findings.quoted(text)) is given twice")
                continue
            }
            moments.append(text)
        }
        return moments
    }
}
