import Ledger
import Talaria

/// What each invariant promises and when it is judged, made from their table. The histories that break them and their
/// exceptions are on a page of the tests (Docs/invariants.md).
package enum InvariantPage {
    /// Markdown that ends in a newline.
    package static var text: String {
        let everywhere = Invariant.everywhere
        let simulated = Invariant.allCases.filter { !everywhere.contains($0) && $0.targetRule == nil }
        return """
            # Invariants

            An invariant is what must never happen, whatever fails: no scan is lost, no book is added twice. It needs no line in a scenario:
            every run judges them, and one that is broken ends the run with exit code 97. `make docs` generates this page from the table in
            [Sources/Judging/Ledger/Invariant.swift](../../Sources/Judging/Ledger/Invariant.swift).

            An accident, such as a kill or a fault, excuses what it hit, and no more: the exceptions of each invariant, with what is just inside
            and just outside of them, are in [the table of the tests](../invariants.md).

            ## When an invariant is n/a

            - **with `--target`**: the backend is not observed. Those with *n/a* below need it. Those with *by summaries* hold the books
              that came against the number that the summary at the end of a job promises, and are n/a where no summary promises one.
            - **in a live run**: those of the second table need the exact times of both sides, which only a simulated run has. They are not
              listed in a live report.
            - **without `--settle`**: those with *needs `--settle`* are judged only when all faults have ended and everything is at rest.
            - **without the journey**: `rows.conserved` is about imports, `lookup.billed-once` about look-ups, `cancel.final` about cancels.
            - **after an interruption, or the death of the backend**: what had not been judged until then.

            ## In every run


            """
                + MarkdownTable.text(
                    ["invariant", "what must hold", "judged", "with a target"],
                    everywhere.map {
                        [
                            "`\($0.rawValue)`", $0.statement, Self.moment($0.kind),
                            $0.isPromised ? "by summaries" : $0.needsBackend ? "n/a" : "yes",
                        ]
                    })
                    + """

                    ## Of a target, in live runs with `--target`

                    They judge the backend, not the phones, by what it sends before any fault of this program has changed it. `trial` of a
                    scenario states what the target promises ([scenario](scenario.md)); a rule under `lenient` there makes a finding in place of a
                    violation. Each has an example with a phone and a scan for `inspect`. `target.limit` is judged where `limit` is stated.


                    """
                + MarkdownTable.text(
                    ["invariant", "what must hold"],
                    Invariant.ofTarget.map { ["`\($0.rawValue)`", $0.statement] })
                    + """

                    What the contract leaves open, but was probably not meant, is a finding (`note.*`), and no violation: the run passes, unless
                    an objective says `contract.findings: count == 0`.


                    """
                + MarkdownTable.text(
                    ["finding", "what is expected"],
                    TargetNote.allCases.map { ["`\($0.path)`", $0.statement] })
                    + """

                    ## In simulated runs, in addition


                    """
                + MarkdownTable.text(
                    ["invariant", "what must hold", "judged"],
                    simulated.map {
                        [
                            "`\($0.rawValue)`", $0.statement,
                            Self.moment($0.kind) + ($0.isAtRest ? ", needs `--settle`" : ""),
                        ]
                    })
                    + """

                    ## When one is broken

                    The report names the invariant, the phone, the scan and the moment. `inspect RUN --phone D --scan N` marks the line with `!`. A
                    live run leaves `plan.json`, and `simulate` reduces it to one scan and one fault: [hunting-a-bug](hunting-a-bug.md).

                    A profile of a real app is known to break some; such a violation is *expected for the client profile*
                    ([profiles-and-dialects](profiles-and-dialects.md)). `expect-broken` of a scenario requires one to break
                    ([objectives](objectives.md)).

                    """
    }

    private static func moment(_ kind: InvariantKind) -> String {
        switch kind {
        case .always: "after each observation"
        case .eventually: "within a bounded time"
        case .finally: "at the end"
        }
    }
}
