import SimBase
import Talaria

// The values of results, statuses, tokens and DELETEs.

extension ProfileDescription {
    static let jobs: [ProfileDescription] = [
        ProfileDescription(
            "results.uses-inline-books", .contract(apps: "section 5, GAP-3"),
            { Self.text($0.results.usesInlineBooks) }
        ) {
            $0.results.usesInlineBooks
                ? "The books in a `completed` event are the books of the scan, without a request for results."
                : "The books in a `completed` event are ignored."
        },
        ProfileDescription(
            "results.is-fallback", .contract("section 2.3"), { Self.text($0.results.isFallback) }
        ) {
            $0.results.isFallback
                ? """
                Results are requested where a `completed` event has no books that can be used: absent, null, empty or unreadable.
                """
                : "Results are not requested: a `completed` event without books is a scan without books."
        },
        ProfileDescription(
            "results.is-repeated", .contract(apps: "section 4.5", design: true),
            { Self.text($0.results.isRepeated) }
        ) {
            $0.results.isRepeated
                ? """
                After no connection, no answer, 408, 429 or 5xx, the results are requested again after the backoff \
                (backoff.*), and not before Retry-After or `retryAfterMs`. After 401, 404 or 410 the photo is \
                uploaded again, at most \($0.token.uploadsMax) times per scan (token.uploads-max); after the next such \
                answer the scan waits in the queue until the app is opened. After any other answer, a 200 that cannot be read included, they \
                are requested again after the backoff. After the third of these answers, in a row or not, the scan \
                waits in the queue until the app is opened, and then follows the same job. A job that has completed \
                is deleted only after its books are stored durably on the phone.
                """
                : """
                The results are requested once. If that fails, the job is deleted, and the books with it: the scan has failed \
                (failed-scans).
                """
        },
        ProfileDescription(
            "results.failures-max", .contract(apps: "section 4.13"),
            { Self.text(limit: $0.results.failuresMax) }
        ) {
            guard let failures = $0.results.failuresMax else {
                return "The results of a job are requested again as often as that fails."
            }
            return """
                At most \(failures) failures of these requests for one job are tolerated; after the next, the scan has failed \
                (failed-scans).
                """
        },
        ProfileDescription(
            "results.checks-expiry", .contract(apps: "section 6.2"), { Self.text($0.results.checksExpiry) }
        ) {
            $0.results.checksExpiry
                ? """
                Results are not requested at or after `expiresAt` of the `completed` event by the clock of the phone; the scan \
                has failed (failed-scans).
                """
                : "`expiresAt` of the `completed` event is not read: results are requested at any time."
        },
        ProfileDescription(
            "results.needs-address", .contract(apps: "section 4.5"), { Self.text($0.results.needsAddress) }
        ) {
            $0.results.needsAddress
                ? """
                Results are requested only if the `completed` event has `resultsUrl` and the job has a token. Otherwise the job is \
                deleted, and the scan has failed (failed-scans). `format=lite` is added once. At HEAD an address that has it behind another \
                parameter (`&format=lite`) gets it twice, which the simulation does not do.
                """
                : """
                Results are requested at `resultsUrl` if it is a path or names the server of the stream. Otherwise, \
                and without `resultsUrl`, they are requested at `/v3/jobs/scans/{jobId}/results`, with `format=lite` \
                once in either case. Authorization is sent if the job has a token.
                """
        },
        ProfileDescription(
            "results.rejects-unknown-status", .contract("section 1.3", apps: "section 4.5"),
            { Self.text($0.results.rejectsUnknownStatus) }
        ) {
            $0.results.rejectsUnknownStatus
                ? """
                One book with an `enrichmentStatus` that the client does not know makes the whole list unreadable, in \
                `completed` and in the results.
                """
                : """
                A book with an `enrichmentStatus` that the client does not know is kept like the others, with that \
                status as it came. This holds for the books of `completed` and for those of the results.
                """
        },
        ProfileDescription(
            "results.format", .contract("section 1.3", apps: "section 5, GAP-8"),
            { $0.results.format ?? "none" }
        ) {
            $0.results.format.map { "Results are requested with `format=\($0)`, added once." }
                ?? "Results are requested without `format`."
        },
        ProfileDescription(
            "results.envelope", .contract("section 1.3", apps: "section 5, GAP-2"),
            { $0.results.envelope.rawValue }
        ) {
            switch $0.results.envelope {
            case .data: "The books of an answer are in `data.results`."
            case .topLevel: "The books of an answer are in `results`, at the top level."
            }
        },
        ProfileDescription(
            "results.keeps-enrichment-status", .contract(apps: "section 5, GAP-14"),
            { Self.text($0.results.keepsEnrichmentStatus) }
        ) {
            $0.results.keepsEnrichmentStatus
                ? "The `enrichmentStatus` of a book is stored with it."
                : "The `enrichmentStatus` of a book is dropped."
        },
        ProfileDescription(
            "status.polling", .contract("section 1.4", apps: "section 4.13"), { $0.status.polling.rawValue }
        ) {
            switch $0.status.polling {
            case .off: "The stream of a job is read. Its status is not requested."
            case .afterLoss: "After the first loss of its stream, the status of a job is requested instead."
            case .always: "No stream is opened: the status of a job is requested until it has ended."
            }
        },
        ProfileDescription("status.interval", .contract("section 1.4"), { Self.text($0.status.interval) }) {
            "A status is requested \(Self.prose($0.status.interval)) after the answer to the last request."
        },
        ProfileDescription(
            "status.requests-max", .contract(apps: "section 4.13"), { String($0.status.requestsMax) }
        ) {
            """
            The status of a job is requested at most \($0.status.requestsMax) times; then the scan waits in the queue until the \
            app is opened.
            """
        },
        ProfileDescription(
            "status.failures-max", .contract(apps: "section 4.13"), { String($0.status.failuresMax) }
        ) {
            """
            At most \($0.status.failuresMax) failures of these requests in a row are tolerated; after the next, the scan waits \
            likewise.
            """
        },
        ProfileDescription(
            "token.expiry", .contract("section 2.5", apps: "section 5, GAP-11"), { $0.token.expiry.rawValue }
        ) {
            switch $0.token.expiry {
            case .uploadsAgain:
                "A 401 on stream, status or results means that the token has expired: the photo is uploaded again."
            case .unknown:
                "A 401 on stream, status or results is a failed request like any other, made again with that token."
            }
        },
        ProfileDescription("token.uploads-max", .design, { String($0.token.uploadsMax) }) {
            """
            After a 401, 404 or 410 on stream, status or results a photo is uploaded again, at most \
            \($0.token.uploadsMax) times per scan. After the next such answer the scan waits in the queue until the \
            app is opened. Then it is uploaded again, and every further such answer leads back to this wait. The old \
            job is not deleted: its DELETE would fail as well.
            """
        },
        ProfileDescription(
            "token.refresh-after", .contract("section 2.5"),
            { $0.token.refreshAfter.map { Self.text($0) } ?? "off" }
        ) {
            $0.token.refreshAfter.map {
                """
                The token of a job that is followed by WebSocket is exchanged for a new one \(Self.prose($0)) after the upload, and \
                again 30 minutes before the end of the new one. A failed exchange is made again at most \
                \(AppLimits.refreshFailuresMax) times.
                """
            } ?? "No token is exchanged for a new one."
        },
        ProfileDescription("token.stream", .contract("section 7, C13"), { $0.token.stream.rawValue }) {
            switch $0.token.stream {
            case .header:
                "A request for a stream has the token in the header Authorization, as every other one has."
            case .query:
                "A request for a stream has the token in the query, as `token`, and no header Authorization."
            }
        },
        ProfileDescription(
            "cleanup.is-made", .contract("section 1.1, row 4"), { Self.text($0.cleanup.isMade) }
        ) {
            $0.cleanup.isMade
                ? "A job is deleted after its books are stored on the phone." : "No job is deleted."
        },
        ProfileDescription(
            "cleanup.is-made-after-failure", .contract("section 1.1, row 4", design: true),
            { Self.text($0.cleanup.isMadeAfterFailure) }
        ) {
            $0.cleanup.isMadeAfterFailure
                ? "A job is deleted as well when its scan is refused or continues with another job."
                : "A job whose scan has not completed is not deleted."
        },
        ProfileDescription(
            "cleanup.requests-max", .contract(apps: "section 4.2, step 13", design: true),
            { String($0.cleanup.requestsMax) }
        ) {
            $0.cleanup.requestsMax > 1
                ? """
                A DELETE without an answer, or with 408, 429 or 5xx, is sent again after the backoff (backoff.*), and \
                not before Retry-After or `retryAfterMs`, at most \($0.cleanup.requestsMax) requests in all. 2xx, 404 \
                and 410 are a success. After any other status, 401 and 403 included, the job is left to expire.
                """
                : """
                A DELETE is sent once. If it fails, the job is left on the server until it expires, and nothing is shown.
                """
        },
    ]
}
