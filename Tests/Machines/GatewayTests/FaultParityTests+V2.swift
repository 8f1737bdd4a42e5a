import Faults
import SimBase
import Talaria

// The rows of the journeys of v2: those of a scan, with what differs in the answers and the times of v2.

extension FaultParityTests {
    static let v2Rows =
        [Journey.bookshelfScan, .batchEnrichment, .csvImport].flatMap { journey in
            Self.rows.map { Self.row($0, of: journey) } + Self.slowRows(of: journey)
        } + Self.lookupRows

    /// A look-up is one request.
    private static let lookupRows =
        Self.rows.filter { $0.on == .upload }.map { Self.row($0, of: .bookEnrichment) }
        + [
            HTTPFault(
                status: 404, code: "NOT_FOUND", retryable: false, retryAfter: nil, retryAfterLocation: .both)
        ].map { Row(journey: .bookEnrichment, kind: .httpError($0), on: .upload) }

    private static func row(_ row: Row, of journey: Journey) -> Row {
        var row = row
        row.journey = journey
        switch row.kind {
        // No `completed` event of v2 has books, none of its events a text, and it has none for a book that is not looked up.
        case .stripBooks, .degraded, .eventShape(.noMessage):
            row.fires = false
            row.answers = []
        // A DELETE of v2 is answered in words.
        case .jobGone where row.on == .stream:
            row.answers = ["- cleanup 404 ended", "- ", "+ cleanup 200 ended", "+ "]
            row.seen = [
                "- 25000 answered cleanup 1 404", "- 25000 problem cleanup 404 false -1",
                "+ 25000 answered cleanup 1 200", "+ 25000 cleaned true",
            ]
        case .retryableError:
            row.answers = ["- 20000 processing "]
            // A batch has its second event later.
            if journey == .batchEnrichment { row.seen[0] = "- 6600 finished error" }
            if journey == .csvImport { row.seen[0] = "- 4000 finished error" }
        case .slowStage: return Self.slow(row)
        case .reorderResults where journey == .csvImport: row.fires = false
        case .rateLimit, .httpError, .truncateResults, .reorderResults, .expireToken, .jobGone, .finalError,
            .unknownEvent, .badJSON, .eventShape(.splitData), .latePing, .noPing, .twoTerminals,
            .endWithoutTerminal,
            .ignoreLastEventID, .forgetEvents, .socketClose, .socketFrames, .reset,
            .close, .endCleanly, .silence, .slice, .delay, .bandwidth, .loss, .refuse, .phone:
            break
        }
        return row
    }

    /// The other parts of the work. A batch and an import have none before the enrichment: there only the end is late.
    private static func slowRows(of journey: Journey) -> [Row] {
        [ScanPhase.analyzing, .identifying].map { phase in
            var row = Self.slow(
                Row(journey: journey, kind: .slowStage(phase, by: .seconds(2)...(.seconds(2)))))
            // The end of an import is due before the ping of its time, and comes first.
            if journey == .csvImport { row.answers.removeAll { $0.contains("pings") } }
            return row
        }
    }

    /// The events come at the same times. Only the last one says when the job ended, which the upstream's did
    /// earlier.
    private static func slow(_ row: Row) -> Row {
        var row = row
        row.answers = [
            "- 12000 completed ", "- pings [3000, 6000, 9000, 12000]", "- 20000 completed ",
            "+ 12000 completed ",
            "+ pings [3000, 6000, 9000]", "+ 20000 completed ",
        ]
        row.seen = ["- 12000 finished completed", "+ 10000 finished completed"]
        return row
    }
}
