import SimBase
import Talaria

// The values of identities, uploads and waits.

extension ProfileDescription {
    static let requests: [ProfileDescription] = [
        ProfileDescription("identity.upload", Self.identity, { $0.identity.upload.rawValue }) {
            $0.identity.upload.behavior(of: "an upload", perService: "")
        },
        ProfileDescription("identity.stream", Self.identity, { $0.identity.stream.rawValue }) {
            $0.identity.stream.behavior(of: "a request for a stream or a status", perService: "")
        },
        ProfileDescription("identity.results", Self.identity, { $0.identity.results.rawValue }) {
            $0.identity.results.behavior(of: "a request for results", perService: "")
        },
        ProfileDescription("identity.cleanup", Self.identity, { $0.identity.cleanup.rawValue }) {
            $0.identity.cleanup.behavior(
                of: "a DELETE",
                perService: " At HEAD the DELETE on leaving the camera has yet another one (section 4.9).")
        },
        ProfileDescription(
            "upload.shows-code", .contract(apps: "section 4.11, Q21", design: true),
            { Self.text($0.upload.showsCode) }
        ) {
            $0.upload.showsCode
                ? """
                The user sees why a photo was refused: a text for the `code` of the problem document. The texts are \
                the app's to write. The codes are in section 1.7 of Docs/contract.md. An answer without a `code` has \
                the code `HTTP_` with its status, for example `HTTP_413`. A code without a text of its own needs a \
                general text.
                """
                : "The user sees the same text for every refused photo, whatever its `code`."
        },
        ProfileDescription(
            "upload.user-agent", .contract(apps: "section 4.2, step 8"), { $0.upload.userAgent }
        ) { _ in "Uploads have this User-Agent." },
        ProfileDescription(
            "upload.problems", .contract("section 1.7", apps: "section 5, GAP-1"),
            { $0.upload.problems.rawValue }
        ) {
            switch $0.upload.problems {
            case .decoded:
                """
                Of the problem document in a 4xx or 5xx, `code`, `retryable` and `retryAfterMs` are used.
                """
            case .ignored: "The body of a 4xx or 5xx is not read: only the status and Retry-After count."
            }
        },
        ProfileDescription(
            "upload.is-repeated", .contract(apps: "section 4.3", design: true),
            { Self.text($0.upload.isRepeated) }
        ) {
            $0.upload.isRepeated
                ? """
                An upload that fails by no fault of the photo is made again after the backoff (backoff.*), until it is \
                accepted: after no connection, no answer, 401, 403, 404, 408, 410, 5xx or a 4xx with `retryable: true`, and \
                then not before Retry-After or `retryAfterMs`; and after a redirect, which is not followed, a 200 or 202 that \
                cannot be read, or any other 2xx. After a 429 it is made again when the wait is over (waits.*). The photo \
                stays in the queue meanwhile. Any other 4xx is final: the user sees it, and the scan is over. Section 5 of \
                Docs/apps.md asks for one retry; this client does not stop after one.
                """
                : """
                An upload is made once. Whatever it fails by, the scan has failed (failed-scans). Only after a 429 it is made again.
                """
        },
        ProfileDescription("upload.retries-max", .design, { Self.text(limit: $0.upload.retriesMax) }) {
            guard let retries = $0.upload.retriesMax else {
                return "A failed upload is made again as often as it fails."
            }
            return """
                A failed upload is made again at most \(retries) times in a row; then the scan has failed (failed-scans).
                """
        },
        ProfileDescription(
            "upload.repeats-limited", .contract("section 1.8", design: true),
            { Self.text($0.upload.repeatsLimited) }
        ) {
            $0.upload.repeatsLimited
                ? "After a 429 the photo stays in the queue, and is uploaded when the wait is over."
                : "After a 429 the scan has failed (failed-scans)."
        },
        ProfileDescription(
            "upload.photos", .contract("section 1.1", apps: "section 4.2, step 8"),
            { Self.text($0.upload.photos) }
        ) {
            $0.upload.photos == 1...1
                ? "An upload has one photo." : "An upload has \(Self.text($0.upload.photos)) photos."
        },
        ProfileDescription(
            "upload.regions", .contract(apps: "section 4.2, step 2b"), { Self.text($0.upload.regions) }
        ) {
            $0.upload.regions == 1...1
                ? "A photo is one scan."
                : "The app finds \(Self.text($0.upload.regions)) regions in a photo, each a scan of its own."
        },
        ProfileDescription(
            "upload.part", .contract("sections 1.1 and 7, C27"), { $0.upload.part }
        ) { _ in "The photo is the part of the multipart body with this name." },
        ProfileDescription(
            "upload.obeys-retryable", .contract("section 3.1"), { Self.text($0.upload.obeysRetryable) }
        ) {
            $0.upload.obeysRetryable
                ? "A 4xx or 5xx with `retryable: false` is final, and the scan refused."
                : "`retryable: false` of a 5xx is not obeyed: the upload is made again."
        },
        ProfileDescription("upload.falls-back", .contract("section 3.2"), { Self.text($0.upload.fallsBack) })
        {
            $0.upload.fallsBack
                ? """
                After 404, 405, 426 or 501 an upload is made by the other path that its journey has, at once and once: a batch \
                by `/v1/enrichment/batch`.
                """
                : "An upload is always made by the same path."
        },
        ProfileDescription("upload.answer", .contract("section 1.2"), { $0.upload.answer.rawValue }) {
            switch $0.upload.answer {
            case .contract:
                "200 and 202 are a success; jobId, sseUrl and, where there is one, authToken are in `data`."
            case .flat:
                "202 alone is a success; jobId and streamUrl are at the top level, and there is no token."
            case .v2:
                "200 and 202 are a success; jobId, sseUrl and authToken or token are in `data`."
            }
        },
        ProfileDescription(
            "upload.enriches", .contract("section 1.5"), { Self.text($0.upload.enriches) }
        ) {
            $0.upload.enriches
                ? """
                A book that the phone has read by itself is looked up by its text. After three repeats, any other 4xx or a body \
                that cannot be read, it keeps what was read, and the user sees nothing of it. After 404, 405 or 501 its photo is \
                uploaded, and so are those of all further books.
                """
                : "A book that the phone has read by itself is not looked up."
        },
        ProfileDescription(
            "upload.enrichment", .contract("section 1.5"), { $0.upload.enrichment.rawValue }
        ) {
            switch $0.upload.enrichment {
            case .nested: "What was found of a text is under `enrichment`, its `confidence` at the top."
            case .flat: "What was found of a text is at the top."
            }
        },
        ProfileDescription(
            "upload.photo-below", .contract("section 1.5"), { "\($0.upload.photoBelow) %" }
        ) {
            $0.upload.photoBelow == 0
                ? "Whatever the phone has read is looked up by its text."
                : "A reading of less than \($0.upload.photoBelow) % confidence is not looked up: its photo is uploaded."
        },
        ProfileDescription(
            "waits.prefers-header", .contract("sections 1.7 and 1.8"), { Self.text($0.waits.prefersHeader) }
        ) {
            $0.waits.prefersHeader
                ? "Where an answer has both, Retry-After counts and not `retryAfterMs`."
                : "Where an answer has both, `retryAfterMs` counts and not Retry-After."
        },
        ProfileDescription(
            "waits.uses-header", .contract(apps: "section 4.3"), { Self.text($0.waits.usesHeader) }
        ) {
            $0.waits.usesHeader
                ? """
                Where a problem document has no `retryAfterMs`, the wait is that of Retry-After, in seconds or as a date.
                """
                : """
                Where a problem document has no `retryAfterMs`, Retry-After is ignored: after a 429 the wait is \
                \(Self.prose($0.waits.rateLimitDefault)) (waits.rate-limit-default).
                """
        },
        ProfileDescription(
            "waits.is-set-anew", .contract(apps: "section 4.6", design: true),
            { Self.text($0.waits.isSetAnew) }
        ) {
            $0.waits.isSetAnew
                ? """
                A later 429 replaces the wait of an earlier one, even if uploads then begin before the time that the earlier one \
                stated.
                """
                : "Of several 429s, the one whose wait ends last counts: a later 429 never makes the wait shorter."
        },
        ProfileDescription(
            "waits.rate-limit-default", .contract(apps: "section 4.3"),
            { Self.text($0.waits.rateLimitDefault) }
        ) {
            "After a 429 without a time, no photo is uploaded for \(Self.prose($0.waits.rateLimitDefault))."
        },
        ProfileDescription(
            "waits.circuit-default", .contract("section 3.1"),
            { $0.waits.circuitDefault.map(Self.text) ?? "none" }
        ) {
            guard let wait = $0.waits.circuitDefault else {
                return "A 503 `CIRCUIT_OPEN` without a time is a 503 like any other."
            }
            return
                "After a 503 `CIRCUIT_OPEN` without a time, a request is made again \(Self.prose(wait)) later at the earliest."
        },
    ]

    private static let identity = Source.contract("section 1.1", apps: "sections 4.9 and 5, GAP-10")
}

extension DeviceIDSource {
    /// `other`: a sentence about other requests of this kind, for a client whose ids are those of its services.
    fileprivate func behavior(of request: String, perService other: String) -> String {
        switch self {
        case .persistent:
            """
            The X-Device-ID of \(request) is that of the installation: one UUID, created at the first launch and stored.
            """
        case .perScan: "The X-Device-ID of \(request) is a new random UUID for each scan."
        case .perService:
            """
            The X-Device-ID of \(request) is a random UUID for each scan, and not the one with which the photo was \
            uploaded.\(other)
            """
        case .absent: "The X-Device-ID of \(request) is missing."
        }
    }
}
