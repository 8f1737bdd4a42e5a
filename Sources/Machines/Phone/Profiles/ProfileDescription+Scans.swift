import SimBase

// The values of scans that wait or fail, of the background, and of times that all requests have.

extension ProfileDescription {
    static let scans: [ProfileDescription] = [
        ProfileDescription(
            "failed-scans", .contract(apps: "section 4.11, Q20", design: true), { $0.failedScans.rawValue }
        ) {
            switch $0.failedScans {
            case .wait:
                """
                A scan that is not tried any further stays in the durable queue with its photo, and is tried again \
                when the app is opened. If it still has a job, the client follows that job with the stored `sseUrl`, \
                token and last event id, and uploads nothing. If it has none, the photo is uploaded for a new job. It \
                has none after an upload that failed, after 401, 404 or 410 (token.uploads-max), and after an `error` \
                event.
                """
            case .removed:
                "A scan that is not tried any further is shown as failed and removed, with its photo."
            }
        },
        ProfileDescription(
            "failure-overlay", .contract(apps: "section 4.11, Q20", design: true),
            { Self.text($0.failureOverlay) }
        ) {
            switch $0.failedScans {
            case .wait:
                """
                A scan that waits keeps its job, which is not deleted: the job is followed again when the app is \
                opened. The job is deleted when its books are stored, after an `error` event, and when the app goes \
                to the background (background).
                """
            case .removed where $0.failureOverlay == .zero: "The job of a removed scan is deleted at once."
            case .removed:
                """
                The failure of a removed scan is shown for \(Self.prose($0.failureOverlay)); then its job is deleted, even if it \
                is still running.
                """
            }
        },
        ProfileDescription(
            "queue.storage", .contract(apps: "sections 4.6 and 4.7", design: true),
            { $0.queue.storage.rawValue }
        ) {
            switch $0.queue.storage {
            case .all:
                """
                Every photo is stored when it is taken, before it is uploaded, and stays stored until its scan is \
                completed or refused. A scan is refused by a final answer to its upload (upload.is-repeated), by a \
                final `error` event (events.failure), or because its photo cannot be used. The id, `sseUrl`, token \
                and last event id of its job are stored with it, and so is how often it was uploaded for a retryable `error` event \
                or for a 401, 404 or 410. Not stored are the backoffs, the wait after a 429, and the counts of other answers \
                that cannot be used: they begin anew with the process. A new process continues with all scans. One with a \
                job follows that job and is not uploaded again. One without a job is uploaded. Of one that is \
                completed or refused only the DELETE is left.
                """
            case .offlineOnly:
                """
                Only photos that were taken without a path are stored, until they are uploaded. The others, and those that wait \
                after a 429, are in memory and end with the process.
                """
            }
        },
        ProfileDescription(
            "queue.drain", .contract(apps: "section 4.7", design: true), { $0.queue.drain.rawValue }
        ) {
            switch $0.queue.drain {
            case .untilSettled:
                """
                When the path returns, the photos that wait for it are uploaded oldest first, as many at once as slots are free. Each stays in \
                the queue until its scan is completed or refused, and is never uploaded twice at a time.
                """
            case .once:
                """
                When the path returns, the photos that were taken without it are uploaded one after another, each once, and \
                removed from the queue whatever came of it. A path that is lost and returns meanwhile begins a second round \
                over the same photos, which are then uploaded twice.
                """
            }
        },
        ProfileDescription(
            "background", .contract(apps: "section 4.8", design: true), { $0.background.rawValue }
        ) {
            switch $0.background {
            case .closesStreams:
                """
                When the app goes to the background, streams and uploads under way are closed, running jobs are \
                deleted, and their scans return to the durable queue. When the app is opened they are uploaded again, \
                for a new job. Without a path no job can be deleted: it is kept and followed again when the app is \
                opened. The app has \(Self.prose(AppLimits.backgroundTime)) for all these DELETEs together. One for which there is no time, or that \
                fails, is not sent again: the job is left to expire. So is the job of an upload that the server \
                accepted without its answer being read. Scans whose outcome is stored still finish, and their DELETE \
                is sent again when the app is opened. The background begins when the app leaves the screen \
                (`applicationDidEnterBackground`); a change of the tab is not the background, and changes nothing. The simulation has neither a tab \
                change nor `willResignActive`.
                """
            case .leavesStreams where $0.failedScans == .removed:
                """
                In the background, open streams are neither read nor closed, until the server ends them or they are \
                silent for stream.idle-timeout. The scans that are under way are removed with their photos at once, \
                and are not shown as failed. A DELETE is sent at once for each that has a job. The job of an upload \
                under way stays unknown, and is left on the server. The trigger at HEAD is `willResignActive`, or \
                that the user leaves the tab of the camera (section 4.8). The simulation has only the way to the \
                background.
                """
            case .leavesStreams:
                """
                In the background, open streams are neither read nor closed, until the server ends them or they are \
                silent for stream.idle-timeout. Their jobs are deleted, and the scans that are under way return to \
                the durable queue.
                """
            }
        },
        ProfileDescription(
            "request-timeout", .contract(apps: "section 4.2, step 8"), { Self.text($0.requestTimeout) }
        ) {
            """
            An upload, a DELETE, or a request for results or a status without an answer after \(Self.prose($0.requestTimeout)) \
            has failed. An upload has the time of its bytes at 8,000 bytes per second in addition.
            """
        },
        Self.timeout("photos", of: "an upload of photos") { $0.photos },
        Self.timeout("document", of: "an upload of a JSON document") { $0.document },
        Self.timeout("file", of: "an upload of a library file") { $0.file },
        Self.timeout("results", of: "a request for results") { $0.results },
        Self.timeout("status", of: "a request for a status") { $0.status },
        Self.timeout("cleanup", of: "a DELETE") { $0.cleanup },
        ProfileDescription("backoff.base", .design, { Self.text($0.backoff.base) }) {
            """
            Each request that is made again (\($0.repeated)) has a backoff of its own. It is \
            \(Self.prose($0.backoff.base)) after the first failure and doubles with each failure in a row. \
            \($0.endOfRow)
            """
        },
        ProfileDescription("backoff.cap", .design, { Self.text($0.backoff.cap) }) {
            """
            None of these backoffs is longer than \(Self.prose($0.backoff.cap)). A wait that the server asks for may be.
            """
        },
        ProfileDescription(
            "backoff.has-jitter", .contract(apps: "section 4.4", design: true),
            { Self.text($0.backoff.hasJitter) }
        ) {
            $0.backoff.hasJitter
                ? """
                The wait is drawn uniformly (backoff.spread). A wait that the server asks for has \
                no jitter: after a 429 a photo is uploaded exactly when the wait is over.
                """
                : "The wait is exactly the backoff, so that phones that failed together try again together."
        },
        ProfileDescription(
            "backoff.spread", .contract(apps: "section 6.2", design: true), { $0.backoff.spread.rawValue }
        ) {
            switch $0.backoff.spread {
            case .full: "A wait with jitter is drawn from 0 to the backoff (full jitter)."
            case .fifth:
                "A wait with jitter is drawn within 20 % of the backoff, and is at least \(Self.prose($0.backoff.base))."
            }
        },
        ProfileDescription("backoff.growth", .design, { "\($0.backoff.growth / 10)%" }) {
            "After a failure in a row a backoff is \($0.backoff.growth / 10) % of the one before, up to backoff.cap."
        },
        ProfileDescription(
            "request-backoff", .contract(apps: "section 6.2"),
            { $0.requestBackoff.map { "\(Self.text($0.base))..\(Self.text($0.cap))" } ?? "backoff" }
        ) {
            guard let own = $0.requestBackoff else {
                return "Streams and other requests have the same backoff (backoff.*)."
            }
            return """
                The backoff of all requests but those for streams is \(Self.prose(own.base)) after the first failure and \
                \(own.growth / 10) % of the one before after each failure in a row, and at most \(Self.prose(own.cap)).
                """
        },
        ProfileDescription("retries", .contract(apps: "section 6.2"), { $0.retries.rawValue }) {
            switch $0.retries {
            case .standard: "A failed request is made again as often as the values of its kind say."
            case .aggressive: "A failed request is made again with the larger numbers that its client has."
            }
        },
        ProfileDescription("path-return-jitter", .design, { Self.text($0.pathReturnJitter) }) {
            $0.pathReturnJitter == .zero
                ? "When the path returns, everything that waits for it is tried again at once."
                : """
                When the path returns, everything that waits for it is tried again within \
                \(Self.prose($0.pathReturnJitter)), at random moments: each stream, request for results and DELETE at one of \
                its own, and all waiting photos at one for the phone, so that they keep their order.
                """
        },
    ]
}

extension ProfileDescription {
    private static func timeout(
        _ name: String, of request: String, _ value: @escaping @Sendable (TimeoutPolicy) -> Interval?
    ) -> ProfileDescription {
        ProfileDescription(
            "timeouts.\(name)", .contract(apps: "section 6.2"),
            { value($0.timeouts).map(Self.text) ?? "request-timeout" }
        ) {
            value($0.timeouts).map { "The time for \(request) is \(Self.prose($0))." }
                ?? "The time for \(request) is request-timeout."
        }
    }
}

extension ClientProfile {
    /// The requests that are made again after a failure.
    fileprivate var repeated: String {
        var names: [String] = []
        if self.upload.isRepeated { names.append("upload") }
        if self.status.polling != .always { names.append("stream") }
        if self.results.isFallback, self.results.isRepeated { names.append("results") }
        if self.status.polling != .off { names.append("status") }
        if self.cleanup.isMade, self.cleanup.requestsMax > 1 { names.append("DELETE") }
        return names.joined(separator: ", ")
    }

    /// What ends a row of failures.
    fileprivate var endOfRow: String {
        var sentences: [String] = []
        if self.upload.isRepeated { sentences.append("An accepted upload ends a row of failed uploads.") }
        if self.status.polling != .always {
            sentences.append(
                self.stream.resetsBackoff && self.stream.statuses == .byStatus
                    ? """
                    A new event that the client understands, other than a `ping`, ends the row of a stream: new is one \
                    that the phone has not read before with this id, name and data, and not one that a reconnect brings again. A 200 alone does not. `retry:` raises the first backoff of a stream, up to backoff.cap.
                    """
                    : "Nothing that a stream brings ends its row.")
        }
        if self.status.polling != .off {
            sentences.append("A status that was read ends a row of failed requests for it.")
        }
        sentences.append("A new job, and a new process, begin a new row.")
        return sentences.joined(separator: " ")
    }
}
