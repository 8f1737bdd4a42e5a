import SimBase

// The values of scans that wait or fail, of the background, and of times that all requests have.

extension ProfileValue {
    static let scans: [ProfileValue] = [
        ProfileValue("failed-scans", .both("section 4.11, Q20"), { $0.failedScans.rawValue }) {
            switch $0.failedScans {
            case .wait:
                """
                A scan that is not tried any further stays in the durable queue with its photo, and is tried again when the app \
                is opened.
                """
            case .removed:
                "A scan that is not tried any further is shown as failed and removed, with its photo."
            }
        },
        ProfileValue("failure-overlay", .both("section 4.11, Q20"), { Self.text($0.failureOverlay) }) {
            switch $0.failedScans {
            case .wait: "A scan that waits keeps its job, which is not deleted."
            case .removed where $0.failureOverlay == .zero: "The job of a removed scan is deleted at once."
            case .removed:
                """
                The failure of a removed scan is shown for \(Self.prose($0.failureOverlay)); then its job is deleted, even if it \
                is still running.
                """
            }
        },
        ProfileValue("queue.storage", .both("sections 4.6 and 4.7"), { $0.queue.storage.rawValue }) {
            switch $0.queue.storage {
            case .all:
                """
                Every photo is stored when it is taken, before it is uploaded, and stays stored until its scan is completed or \
                refused. A new process continues with all of them.
                """
            case .offlineOnly:
                """
                Only photos that were taken without a path are stored, until they are uploaded. The others, and those that wait \
                after a 429, are in memory and end with the process.
                """
            }
        },
        ProfileValue("queue.drain", .both("section 4.7"), { $0.queue.drain.rawValue }) {
            switch $0.queue.drain {
            case .untilSettled:
                """
                When the path returns, waiting photos are uploaded oldest first, as many at once as slots are free. Each stays in \
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
        ProfileValue("background", .both("section 4.8"), { $0.background.rawValue }) {
            switch $0.background {
            case .closesStreams:
                """
                In the background, streams are closed, running jobs are deleted, and their scans return to the durable queue. When \
                the app is opened they are uploaded again.
                """
            case .leavesStreams:
                """
                In the background, open streams are neither read nor closed, until the server ends them or they are silent for \
                stream.idle-timeout. The scans that are under way are given up (failed-scans).
                """
            }
        },
        ProfileValue("request-timeout", .contract("section 4.2, step 8"), { Self.text($0.requestTimeout) }) {
            """
            An upload, a DELETE, or a request for results or a status without an answer after \(Self.prose($0.requestTimeout)) \
            has failed. An upload has the time of its bytes at 8,000 bytes per second in addition.
            """
        },
        ProfileValue("backoff.base", .design, { Self.text($0.backoff.base) }) {
            """
            Each upload, stream, request for results or status, and DELETE has a backoff of its own. It is \
            \(Self.prose($0.backoff.base)) after the first failure and doubles with each failure in a row.
            """
        },
        ProfileValue("backoff.cap", .design, { Self.text($0.backoff.cap) }) {
            """
            None of these backoffs is longer than \(Self.prose($0.backoff.cap)). A wait that the server asks for may be.
            """
        },
        ProfileValue("backoff.has-jitter", .both("section 4.4"), { Self.text($0.backoff.hasJitter) }) {
            $0.backoff.hasJitter
                ? "The wait is drawn uniformly from 0 to the backoff (full jitter)."
                : "The wait is exactly the backoff, so that phones that failed together try again together."
        },
        ProfileValue("path-return-jitter", .design, { Self.text($0.pathReturnJitter) }) {
            $0.pathReturnJitter == .zero
                ? "When the path returns, everything that waits for it is tried again at once."
                : """
                When the path returns, everything that waits for it is tried again within \
                \(Self.prose($0.pathReturnJitter)), at a random moment.
                """
        },
    ]
}
