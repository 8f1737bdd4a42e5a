import Histories
import Ledger
import SimBase
import Talaria

// Those that are judged wherever a run goes. An excuse is named for the accident, and for how far it reaches.

extension Example {
    /// A completed scan whose job is left to delete.
    fileprivate static func completed(
        _ name: String, tokenLifetime: Interval = .hours(2),
        _ rest: @escaping @Sendable (inout History) -> Void = { _ in }
    ) -> Example {
        Example(name, tokenLifetime: tokenLifetime) {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.complete()
            rest(&$0)
        }
    }

    /// A scan whose stream is asked for again.
    fileprivate static func resumed(
        _ name: String, after position: Int?,
        _ lose: @escaping @Sendable (inout History) -> Void = {
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
        }
    ) -> Example {
        Example(name) {
            $0.streaming()
            lose(&$0)
            $0.open(attempt: 2, after: position.map(History.id), serverAfter: position)
            if position == nil { $0.event(0, replayed: true) }
            if position ?? 0 < 1 { $0.event(1, replayed: true) }
            $0.ending(2)
        }
    }
}

extension History {
    fileprivate mutating func answerDelete(
        _ status: Int, attempt: UInt32 = 1, retryAfter: Interval? = nil, isFired: Bool = true
    ) {
        self.send(.cleanup, attempt: attempt, job: self.job)
        if isFired { self.fault(.fired(fault: 0, .cleanup, attempt: attempt)) }
        self.backend(
            .problem(
                .cleanup, attempt: attempt, status: status, job: self.job, retryable: status >= 500,
                retryAfter: retryAfter))
        self.phone(.replied(.cleanup, attempt: attempt, status: status, took: .milliseconds(1)))
    }

    fileprivate mutating func failDelete(_ failure: TransportFailure = .reset) {
        self.phone(.requestFailed(.cleanup, attempt: 1, failure, took: .milliseconds(1)))
    }

    fileprivate mutating func leaveTheScreen() {
        self.phone(.suspended)
        self.phone(.queued(.suspended))
    }

    /// The job's stream is a WebSocket; its connection ended before this time.
    fileprivate mutating func loseSocket(for time: Interval) {
        self.phone(.jobFollowed(job: self.job, by: .websocket))
        self.backend(.streamEnded(job: self.job, attempt: 1, byPeer: true))
        self.pass(time)
    }
}

extension Invariant {
    /// Nil for those of the virtual world.
    var rowOfTheLedger: InvariantRow? {
        switch self {
        case .scanCustody: .scanCustody
        case .scanRefusedForCause: .scanRefusedForCause
        case .bookNeverLost: .bookNeverLost
        case .bookNeverDoubleAdded: .bookNeverDoubleAdded
        case .bookFaithful: .bookFaithful
        case .streamIDMonotone: .streamIDMonotone
        case .streamNoGap: .streamNoGap
        case .streamTerminalOnce: .streamTerminalOnce
        case .jobCleaned: .jobCleaned
        case .jobNotCleanedEarly: .jobNotCleanedEarly
        case .limitHonoured: .limitHonoured
        case .slotsBounded: .slotsBounded
        case .serverAgrees: .serverAgrees
        case .rowsConserved: .rowsConserved
        case .lookupBilledOnce: .lookupBilledOnce
        case .cancelFinal: .cancelFinal
        case .bookAnswered: .bookAnswered
        case .reviewBookAccounted: .reviewBookAccounted
        case .reviewEditKept: .reviewEditKept
        case .reviewNoDuplicate: .reviewNoDuplicate
        case .bookShown: .bookShown
        case .textKeptForCause: .textKeptForCause
        case .scanOrder, .jobCleanedOnce, .jobEnded, .jobOrphansBounded, .jobSilentAfterCleanup,
            .streamDeadDetected, .streamParseRobust, .authNoStaleUse, .authOneExchange, .retryBudget,
            .deviceNotStuck,
            .scanSettles,
            .timersClean, .timeSane, .requestOneFate, .linkConserves, .memoryBounded, .authNoLeak,
            .herdBounded, .othersUnharmed, .requestWellFormed, .targetJobUnique, .targetJobAddressed,
            .targetResume, .targetIDs, .targetTerminal, .targetResultsAgree, .targetAuth, .targetWait,
            .targetLimit, .targetErrorForm, .targetCleanup, .targetStatusAgrees,
            .targetStreamsAgree, .targetJobKept, .targetTimes, .targetText, .targetSocket:
            nil
        }
    }
}

extension Example {
    /// A job vanishes, its phone is killed so long after it was given up, and the next process streams it again.
    fileprivate static func vanished(_ name: String, wait: Interval) -> Example {
        Example("killed \(name)") {
            $0.streaming()
            $0.backend(.vanished(job: $0.job))
            $0.phone(.jobAbandoned(job: $0.job, cause: .status(410)))
            $0.pass(wait)
            $0.kill(keeping: $0.job, after: History.id(1))
            $0.launch(restored: 1)
            $0.phone(.queued(.interrupted))
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            $0.phone(.replied(.stream, attempt: 2, status: 410, took: .milliseconds(1)))
            $0.phone(.jobAbandoned(job: $0.job, cause: .status(410)))
            $0.onDisk(.interrupted)
        }
    }
}

extension InvariantRow {
    // MARK: Scans

    fileprivate static let scanCustody = InvariantRow(
        broken: Example("a completed scan goes back to the queue") {
            $0.launch()
            $0.wholeScan()
            $0.phone(.queued(.transport))
        },
        kept: Example("a scan is completed") {
            $0.launch()
            $0.wholeScan()
        },
        excuses: [
            Excuse(
                name: "kill, before the record of a capture was durable",
                inside: Example("killed before the record was durable") {
                    $0.launch()
                    $0.phone(.captured(scheduled: $0.now))
                    $0.phone(.killed)
                    $0.launch()
                },
                outside: Example("killed after it was") {
                    $0.launch()
                    $0.capture()
                    $0.phone(.killed)
                    $0.launch()
                }),
            Excuse(
                name: "kill, before the outcome was durable: it is said again",
                inside: .completed("said again where the storage had no outcome") {
                    $0.send(.cleanup, job: $0.job)
                    $0.kill(keeping: $0.job, after: History.id(1), decided: false)
                    $0.launch(restored: 1)
                    $0.complete()
                    $0.clean()
                },
                outside: .completed("said again where it had") {
                    $0.send(.cleanup, job: $0.job)
                    $0.kill(keeping: $0.job, after: History.id(1), decided: true)
                    $0.launch()
                    $0.complete()
                    $0.clean()
                }),
            Excuse(
                name: "reinstallation",
                inside: Example("reinstalled with a scan that waits") {
                    $0.launch()
                    $0.capture()
                    $0.phone(.reinstalled(discarded: 1))
                    $0.launch()
                },
                outside: Example("reinstalled before it was captured") {
                    $0.launch()
                    $0.phone(.reinstalled(discarded: 0))
                    $0.launch()
                    $0.capture()
                }),
        ],
        scenario: ShippedScenario(name: "app-lifecycle"))

    fileprivate static let scanRefusedForCause = InvariantRow(
        broken: Example("refused for a 503 that is worth another try") {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.uploadProblem(503, retryable: true)
            $0.refuse("SERVER_ERROR", answer: 503, retryable: true)
        },
        kept: Example("refused for a 422 that is not") {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.uploadProblem(422)
            $0.refuse("INVALID_FILE", answer: 422)
        },
        excuses: [
            Excuse(
                name: "storage-full, at the capture",
                inside: Example("captured while there was no room") {
                    $0.launch()
                    $0.phone(.storageFilled)
                    $0.phone(.captured(scheduled: $0.now))
                    $0.phone(.refused(code: "STORAGE_FULL", cause: .storage))
                },
                outside: Example("captured when there was room again") {
                    $0.launch()
                    $0.phone(.storageFilled)
                    $0.phone(.storageFreed)
                    $0.phone(.captured(scheduled: $0.now))
                    $0.phone(.refused(code: "STORAGE_FULL", cause: .storage))
                }),
            Excuse(
                name: "a photo that cannot be read",
                inside: Example("never prepared") {
                    $0.launch()
                    $0.phone(.captured(scheduled: $0.now))
                    $0.phone(.queued(.captured))
                    $0.phone(.refused(code: "PHOTO_UNUSABLE", cause: .photo))
                },
                outside: Example("prepared") {
                    $0.launch()
                    $0.capture()
                    $0.phone(.photoPrepared(took: .milliseconds(5), bytes: 1_000))
                    $0.phone(.refused(code: "PHOTO_UNUSABLE", cause: .photo))
                }),
            Excuse(
                name: "a full queue",
                inside: .queue("the scan after a thousand", of: 1_000),
                outside: .queue("the thousandth", of: 999)),
        ],
        scenario: ShippedScenario(name: "backend-degraded"))

    // MARK: Books

    fileprivate static let bookNeverLost = InvariantRow(
        broken: Example("completed with a book that never came in") {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks([0, 1])
            $0.repeatBooks([2])
            $0.complete()
            $0.clean()
        },
        kept: Example("completed with all of them") {
            $0.streaming()
            $0.ending(2)
        },
        excuses: [
            Excuse(
                name: "a record that waits on disk",
                inside: Example("waits with the books to come") {
                    $0.streaming()
                    $0.terminal(2)
                    $0.phone(.queued(.resultsUnavailable))
                    $0.onDisk(.resultsUnavailable)
                },
                outside: Example("waits nowhere") {
                    $0.streaming()
                    $0.terminal(2)
                    $0.phone(.queued(.resultsUnavailable))
                }),
            Excuse(
                name: "reinstallation",
                inside: Example("reinstalled between its books") {
                    $0.streaming()
                    $0.terminal(2)
                    $0.addBooks([0])
                    $0.phone(.reinstalled(discarded: 1))
                    $0.launch()
                },
                outside: Example("lost after a reinstallation") {
                    $0.launch()
                    $0.phone(.reinstalled(discarded: 0))
                    $0.streaming()
                    $0.terminal(2)
                    $0.addBooks([0])
                }),
        ],
        scenario: ShippedScenario(name: "stripped-books"))

    fileprivate static let bookNeverDoubleAdded = InvariantRow(
        broken: Example("a book that is in the library is added") {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks([0, 1, 2, 1])
            $0.complete()
            $0.clean()
        },
        kept: Example("it is recognized") {
            $0.streaming()
            $0.terminal(2)
            $0.addBooks()
            $0.repeatBooks([1])
            $0.complete()
            $0.clean()
        },
        excuses: [],
        scenario: ShippedScenario(name: "torn-writes"))

    fileprivate static let bookFaithful = InvariantRow(
        broken: .firstBook("another title", .progress) { $0.title += "!" },
        kept: .firstBook("as on the shelf", .progress) { _ in },
        excuses: [
            Excuse(
                name: "a look-up that failed, of which the backend told",
                inside: .firstBook("degraded, and told", .enrichmentDegraded) { $0 = $0.degraded },
                outside: .firstBook("degraded without a word", .progress) { $0 = $0.degraded })
        ],
        scenario: ShippedScenario(name: "backend-degraded"))

    // MARK: Streams

    fileprivate static let streamIDMonotone = InvariantRow(
        broken: .resumed("resumes behind an earlier event than the last", after: 0),
        kept: .resumed("resumes behind the last event", after: 1),
        excuses: [
            Excuse(
                name: "kill: what was durable counts",
                inside: .resumed("resumes behind what was durable", after: 0) {
                    $0.kill(keeping: $0.job, after: History.id(0))
                    $0.launch(restored: 1)
                },
                outside: .resumed("resumes behind what came before it", after: 0) {
                    $0.kill(keeping: $0.job, after: History.id(1))
                    $0.launch(restored: 1)
                }),
            Excuse(
                name: "an empty id takes the place away",
                inside: Example("resumes from the start after an empty id") {
                    $0.streaming()
                    $0.phone(.ping(id: "", gap: nil))
                    $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
                    $0.open(attempt: 2, after: nil, serverAfter: nil)
                    $0.event(2)
                    $0.ending(3)
                },
                outside: .resumed("resumes from the start without one", after: nil)),
            Excuse(
                name: "a server that starts over: an event that was not applied before",
                inside: .startedOver("the first that is new is applied", applying: 2),
                outside: .startedOver("one that was applied is applied again", applying: 1)),
            Excuse(
                name: "kill within 1 s, before the place was written down",
                inside: .keptBehind("killed after 1 s", .milliseconds(1_000)),
                outside: .keptBehind("after 1.1 s", .milliseconds(1_100))),
            Excuse(
                name: "storage-full, until 1 s after it",
                inside: .keptBehind("killed 0.9 s after there was room again", .milliseconds(900)) {
                    $0.phone(.storageFilled)
                    $0.pass(.seconds(9))
                    $0.phone(.storageFreed)
                },
                outside: .keptBehind("1.1 s after it", .milliseconds(1_100)) {
                    $0.phone(.storageFilled)
                    $0.pass(.seconds(9))
                    $0.phone(.storageFreed)
                }),
        ],
        scenario: ShippedScenario(name: "network-drops"))

    fileprivate static let streamNoGap = InvariantRow(
        broken: Example("an event is passed over") {
            $0.streaming()
            $0.write(2)
            $0.event(3)
            $0.ending(4)
        },
        kept: Example("none is") {
            $0.streaming()
            $0.event(2)
            $0.event(3)
            $0.ending(4)
        },
        excuses: [
            Excuse(
                name: "an event that cannot be used is ignored",
                inside: Example("ignored, and said so") {
                    $0.streaming()
                    $0.write(2)
                    $0.phone(
                        .eventIgnored(job: $0.job, id: History.id(2), name: "progress", malformed: true))
                    $0.event(3)
                    $0.ending(4)
                },
                outside: Example("ignored twice, and two are missing") {
                    $0.streaming()
                    $0.write(2)
                    $0.write(3)
                    $0.phone(
                        .eventIgnored(job: $0.job, id: History.id(2), name: "progress", malformed: true))
                    $0.event(4)
                    $0.ending(5)
                }),
            Excuse(
                name: "a server that could not replay, if the books come whole",
                inside: .forgotten("the results are fetched", fetches: true),
                outside: .forgotten("they are not", fetches: false)),
        ],
        scenario: ShippedScenario(name: "hostile-stream"))

    fileprivate static let streamTerminalOnce = InvariantRow(
        broken: Example("an event is applied after the end") {
            $0.streaming()
            $0.terminal(2)
            $0.event(3)
            $0.addBooks()
            $0.complete()
            $0.clean()
        },
        kept: Example("the end is the last") {
            $0.streaming()
            $0.ending(2)
        },
        excuses: [
            Excuse(
                name: "kill: what was not durable is done over",
                inside: .endedTwice("ended again after a relaunch") {
                    $0.kill(keeping: $0.job, after: History.id(1))
                    $0.launch(restored: 1)
                },
                outside: .endedTwice("ended again by the same process") {
                    $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
                }),
            Excuse(
                name: "a completed event: results may be asked for",
                inside: Example("results are asked for after it") {
                    $0.streaming()
                    $0.terminal(2, inline: .absent)
                    $0.send(.results, job: $0.job)
                    $0.phone(.resultsDecoded(job: $0.job, books: 3, took: .milliseconds(5)))
                    $0.addBooks()
                    $0.complete()
                    $0.clean()
                },
                outside: Example("after a clean end of the stream without one") {
                    $0.streaming()
                    $0.phone(.streamLost(job: $0.job, attempt: 1, .endWithoutTerminal, silence: nil))
                    $0.send(.results, job: $0.job)
                    $0.phone(.resultsDecoded(job: $0.job, books: 3, took: .milliseconds(5)))
                    $0.addBooks()
                    $0.complete()
                    $0.clean()
                }),
        ],
        scenario: ShippedScenario(name: "hostile-stream"))

    // MARK: Jobs

    fileprivate static let jobCleaned = InvariantRow(
        broken: .completed("no DELETE is sent"),
        kept: .completed("it is sent at once") { $0.clean() },
        excuses: jobCleanedExcuses,
        scenario: ShippedScenario(name: "network-drops"))

    private static let jobCleanedExcuses = [
        Excuse(
            name: "fired fault on the DELETE, until its backoff is over",
            inside: .completed("the run ends within the backoff and 2 s") {
                $0.answerDelete(503)
                $0.pass(.milliseconds(2_490))
            },
            outside: .completed("it ends later") {
                $0.answerDelete(503)
                $0.pass(.milliseconds(2_510))
            }),
        Excuse(
            name: "fired fault on the DELETE, and on no other one",
            inside: .completed("the one that failed was hit") {
                $0.send(.cleanup, job: $0.job)
                $0.fault(.fired(fault: 0, .cleanup, attempt: 1))
                $0.failDelete()
            },
            outside: .completed("another was hit") {
                $0.send(.cleanup, job: $0.job)
                $0.fault(.fired(fault: 0, .cleanup, attempt: 2))
                $0.failDelete()
            }),
        Excuse(
            name: "the wait that the server asked for",
            inside: .completed("the run ends within it") {
                $0.answerDelete(503, retryAfter: .seconds(60))
                $0.pass(.milliseconds(62_490))
            },
            outside: .completed("it ends later") {
                $0.answerDelete(503, retryAfter: .seconds(60))
                $0.pass(.milliseconds(62_510))
            }),
        Excuse(
            name: "eight DELETEs that were all hit",
            inside: .givenUp("given up after the eighth", after: 8),
            outside: .givenUp("given up after the seventh", after: 7)),
        Excuse(
            name: "an answer of a fired fault that is final",
            inside: .completed("a 403 that a fault gave") {
                $0.answerDelete(403)
                $0.phone(.jobAbandoned(job: $0.job, cause: .status(403)))
            },
            outside: .completed("a 403 that none gave") {
                $0.answerDelete(403, isFired: false)
                $0.phone(.jobAbandoned(job: $0.job, cause: .status(403)))
            }),
        Excuse(
            name: "401, for a token that was revoked",
            inside: .turnedAway("its token was revoked", revoked: "job-1"),
            outside: .turnedAway("another job's was", revoked: "job-0")),
        Excuse(
            name: "401, for a token that has expired",
            inside: .turnedAway("its token had expired", revoked: nil, lifetime: .milliseconds(10)),
            outside: .turnedAway("its token was valid", revoked: nil)),
        Excuse(
            name: "kill, for the DELETE under way, until 2 s after the relaunch",
            inside: .completed("the run ends within them") {
                $0.send(.cleanup, job: $0.job)
                $0.kill(keeping: $0.job, decided: true)
                $0.launch()
                $0.pass(.milliseconds(1_990))
            },
            outside: .completed("it ends later") {
                $0.send(.cleanup, job: $0.job)
                $0.kill(keeping: $0.job, decided: true)
                $0.launch()
                $0.pass(.milliseconds(2_010))
            }),
        Excuse(
            name: "kill, for a job that was to be discarded",
            inside: .discarded("killed within 2 s", after: .milliseconds(1_990)),
            outside: .discarded("killed when its DELETE was overdue", after: .milliseconds(2_010))),
        Excuse(
            name: "stretch without a path, until 2 s after it",
            inside: .completed("the run ends within them") {
                $0.send(.cleanup, job: $0.job)
                $0.phone(.pathLost)
                $0.failDelete(.noPath)
                $0.pass(.seconds(60))
                $0.phone(.pathReturned)
                $0.pass(.milliseconds(1_990))
            },
            outside: .completed("it ends later") {
                $0.send(.cleanup, job: $0.job)
                $0.phone(.pathLost)
                $0.failDelete(.noPath)
                $0.pass(.seconds(60))
                $0.phone(.pathReturned)
                $0.pass(.milliseconds(2_010))
            }),
        Excuse(
            name: "fault of the path, for the DELETE under way",
            inside: .completed("sent before the fault ended") {
                $0.fault(.began(fault: 1))
                $0.send(.cleanup, job: $0.job)
                $0.fault(.ended(fault: 1))
                $0.failDelete(.timedOut)
            },
            outside: .completed("sent after it") {
                $0.fault(.began(fault: 1))
                $0.fault(.ended(fault: 1))
                $0.send(.cleanup, job: $0.job)
                $0.failDelete(.timedOut)
            }),
        Excuse(
            name: "background, for the DELETE under way",
            inside: .completed("sent before the app left the screen") {
                $0.send(.cleanup, job: $0.job)
                $0.phone(.suspended)
                $0.pass(.seconds(60))
            },
            outside: .completed("due by then, and not sent") {
                $0.phone(.suspended)
                $0.pass(.seconds(60))
            }),
        Excuse(
            name: "background, until 2 s after it",
            inside: .completed("the run ends within them") {
                $0.send(.cleanup, job: $0.job)
                $0.phone(.suspended)
                $0.pass(.seconds(60))
                $0.phone(.resumed)
                $0.pass(.milliseconds(1_990))
            },
            outside: .completed("it ends later") {
                $0.send(.cleanup, job: $0.job)
                $0.phone(.suspended)
                $0.pass(.seconds(60))
                $0.phone(.resumed)
                $0.pass(.milliseconds(2_010))
            }),
        Excuse(
            name: "storage-full: a job is discarded only where that can be durable",
            inside: Example("no room") {
                $0.streaming()
                $0.fail(2, retryable: true)
                $0.phone(.queued(.retryableError))
                $0.phone(.storageFilled)
                $0.pass(.seconds(60))
                $0.onDisk(.retryableError)
            },
            outside: Example("room for more than 2 s") {
                $0.streaming()
                $0.fail(2, retryable: true)
                $0.phone(.queued(.retryableError))
                $0.phone(.storageFilled)
                $0.pass(.seconds(60))
                $0.phone(.storageFreed)
                $0.pass(.milliseconds(2_010))
                $0.onDisk(.retryableError)
            }),
        Excuse(
            name: "background: a job that is given up has one try",
            inside: .givenUpAway("its one DELETE was hit", isFired: true),
            outside: .givenUpAway("it failed, and nothing had befallen it", isFired: false)),
        Excuse(
            name: "ten DELETEs at once",
            inside: .eleventh("the eleventh waits for 29 s", wait: .seconds(29)),
            outside: .eleventh("it waits for 33 s, and the ten were answered", wait: .seconds(33))),
        Excuse(
            name: "the server's word that the job is gone",
            inside: .leftRunning("its stream was answered by 410", status: 410),
            outside: .leftRunning("its stream was answered by 503", status: 503)),
        Excuse(
            name: "401 to the stream, for a token that was revoked",
            inside: .leftRunning("its token was revoked", status: 401) {
                $0.backend(.tokenRevoked(job: $0.job))
            },
            outside: .leftRunning("another job's was", status: 401) {
                $0.backend(.tokenRevoked(job: "job-0"))
            }),
        Excuse(
            name: "401 to a WebSocket that was lost long ago",
            inside: .leftRunning("61 s ago", status: 401) { $0.loseSocket(for: .seconds(61)) },
            outside: .leftRunning("59 s ago", status: 401) { $0.loseSocket(for: .seconds(59)) }),
        Excuse(
            name: "401 to the stream, of a fired fault",
            inside: .leftRunning("fired on this request", status: 401) {
                $0.fault(.fired(fault: 0, .stream, attempt: 2))
            },
            outside: .leftRunning("fired on the one before", status: 401) {
                $0.fault(.fired(fault: 0, .stream, attempt: 1))
            }),
        Excuse(
            name: "a job that expired before its DELETE was due again",
            inside: .completed("expired within the backoff") {
                $0.answerDelete(503)
                $0.backend(.expired(job: $0.job))
                $0.pass(.seconds(60))
            },
            outside: .completed("expired after it") {
                $0.answerDelete(503)
                $0.pass(.seconds(3))
                $0.backend(.expired(job: $0.job))
                $0.pass(.seconds(60))
            }),
        Excuse(
            name: "a job that a fault took away",
            inside: .completed("it") { $0.backend(.vanished(job: $0.job)) },
            outside: .completed("another") { $0.backend(.vanished(job: "job-0")) }),
        Excuse(
            name: "reinstallation",
            inside: .completed("reinstalled after the outcome") { $0.phone(.reinstalled(discarded: 0)) },
            outside: Example("reinstalled before the capture") {
                $0.launch()
                $0.phone(.reinstalled(discarded: 0))
                $0.streaming()
                $0.terminal(2)
                $0.addBooks()
                $0.complete()
            }),
    ]

    fileprivate static let jobNotCleanedEarly = InvariantRow(
        broken: Example("deleted before its terminal event") {
            $0.streaming()
            $0.clean()
            $0.onDisk(.interrupted)
        },
        kept: Example("deleted when its books are durable") {
            $0.streaming()
            $0.ending(2)
        },
        excuses: [
            Excuse(
                name: "background: running jobs are given up",
                inside: Example("deleted when the app has left the screen") {
                    $0.streaming()
                    $0.leaveTheScreen()
                    $0.clean()
                    $0.onDisk(.suspended)
                },
                outside: Example("deleted when the app is back and follows it again") {
                    $0.streaming()
                    $0.leaveTheScreen()
                    $0.phone(.resumed)
                    $0.open(attempt: 2, after: History.id(1), serverAfter: 1)
                    $0.clean()
                    $0.onDisk(.suspended)
                }),
            Excuse(
                name: "an error event: it has no books",
                inside: Example("deleted after the error") {
                    $0.streaming()
                    $0.fail(2, retryable: true)
                    $0.phone(.queued(.retryableError))
                    $0.clean()
                    $0.onDisk(.retryableError)
                },
                outside: Example("deleted before it") {
                    $0.streaming()
                    $0.send(.cleanup, job: $0.job)
                    $0.fail(2, retryable: true)
                    $0.backend(.cleaned(job: $0.job, effective: true))
                    $0.onDisk(.retryableError)
                }),
            Excuse(
                name: "another job of the scan",
                inside: .superseded("deleted when the next was accepted", isAcceptedFirst: true),
                outside: .superseded("deleted before that", isAcceptedFirst: false)),
        ],
        scenario: ShippedScenario(name: "app-lifecycle"))

    // MARK: Limits

    fileprivate static let limitHonoured = InvariantRow(
        broken: .limited("an upload a nanosecond too early", wait: .seconds(9) - .nanoseconds(1)),
        kept: .limited("an upload in time", wait: .seconds(9)),
        excuses: [
            Excuse(
                name: "fired fault that cuts the answer",
                inside: .limited(
                    "its answer was cut", wait: .seconds(1),
                    onItsWay: {
                        $0.fault(.fired(fault: Fault.cuts, .upload, attempt: 1))
                    }),
                outside: .limited(
                    "another one's was", wait: .seconds(1),
                    onItsWay: {
                        $0.fault(.fired(fault: Fault.cuts, .upload, attempt: 2))
                    })),
            Excuse(
                name: "background, before the answer was read",
                inside: .limited(
                    "it left the screen before", wait: .seconds(1),
                    onItsWay: {
                        $0.phone(.suspended)
                    }),
                outside: .limited("it left the screen afterwards", wait: .seconds(1)) {
                    $0.phone(.suspended)
                }),
            Excuse(
                name: "stretch without a path, before the answer was read",
                inside: .limited(
                    "the path was lost before", wait: .seconds(1),
                    onItsWay: {
                        $0.phone(.pathLost)
                    }),
                outside: .limited("the path was lost afterwards", wait: .seconds(1)) {
                    $0.phone(.pathLost)
                    $0.phone(.pathReturned)
                }),
            Excuse(
                name: "kill: the next process does not know of it",
                inside: .limited("the app was killed since", wait: .seconds(1)) {
                    $0.kill(keeping: nil)
                    $0.launch(restored: 1)
                },
                outside: .limited("the app was in the background since", wait: .seconds(1)) {
                    $0.phone(.suspended)
                    $0.phone(.resumed)
                }),
        ],
        scenario: ShippedScenario(name: "rate-limited"))

    fileprivate static let slotsBounded = InvariantRow(
        broken: Example("a sixth slot is taken") {
            $0.launch()
            for _ in 0..<6 { $0.phone(.slotTaken) }
            for _ in 0..<6 { $0.phone(.slotGiven) }
        },
        kept: Example("five are") {
            $0.launch()
            for _ in 0..<5 { $0.phone(.slotTaken) }
            for _ in 0..<5 { $0.phone(.slotGiven) }
        },
        excuses: [
            Excuse(
                name: "a stream that was given up, until its goodbye has come: 10 s",
                inside: .sixStreams("the first was given up 9 s ago") {
                    $0.phone(.streamLost(job: $0.job, attempt: 1, .silence, silence: .seconds(3)))
                    $0.pass(.seconds(9))
                },
                outside: .sixStreams("it was given up 10 s ago") {
                    $0.phone(.streamLost(job: $0.job, attempt: 1, .silence, silence: .seconds(3)))
                    $0.pass(.seconds(10))
                }),
            Excuse(
                name: "stretch without a path: what was open is dead",
                inside: .sixStreams("the path was lost since") {
                    $0.phone(.pathLost)
                    $0.phone(.pathReturned)
                },
                outside: .sixStreams("it was not") { $0.phone(.pathReturned) }),
            Excuse(
                name: "fired fault that cuts the stream",
                inside: .sixStreams("it cut the first") {
                    $0.fault(.fired(fault: Fault.cuts, .stream, attempt: 1))
                },
                outside: .sixStreams("it cut none") {
                    $0.fault(.fired(fault: Fault.answers, .stream, attempt: 1))
                }),
            Excuse(
                name: "kill: its slots are free",
                inside: Example("five more after a relaunch") {
                    $0.launch()
                    $0.phone(.slotTaken)
                    $0.phone(.killed)
                    $0.launch()
                    for _ in 0..<5 { $0.phone(.slotTaken) }
                    for _ in 0..<5 { $0.phone(.slotGiven) }
                },
                outside: Example("five more after the background") {
                    $0.launch()
                    $0.phone(.slotTaken)
                    $0.phone(.suspended)
                    $0.phone(.resumed)
                    for _ in 0..<5 { $0.phone(.slotTaken) }
                    for _ in 0..<6 { $0.phone(.slotGiven) }
                }),
        ],
        scenario: ShippedScenario(name: "rate-limited"))

    fileprivate static let serverAgrees = InvariantRow(
        broken: Example("a job that the backend never accepted") {
            $0.launch()
            $0.capture()
            $0.phone(.uploadAccepted(job: "imagined", took: .zero, service: .zero))
            $0.onDisk(.transport)
        },
        kept: Example("one that it did") {
            $0.streaming()
            $0.ending(2)
        },
        excuses: [
            Excuse(
                name: "a scan from before this run",
                inside: Example("its job is not known") {
                    $0.launch(restored: 1)
                    $0.phone(.queued(.interrupted))
                    $0.send(.stream, job: "from-before")
                    $0.onDisk(.interrupted)
                },
                outside: Example("a job of a new scan") {
                    $0.launch()
                    $0.capture()
                    $0.send(.stream, job: "from-before")
                    $0.onDisk(.interrupted)
                }),
            Excuse(
                name: "kill, before it was durable that the job is gone",
                inside: .vanished("within a write of it", wait: .seconds(1) - .milliseconds(2)),
                outside: .vanished("a millisecond later", wait: .seconds(1) - .milliseconds(1))),
        ],
        scenario: ShippedScenario(name: "token-expiry"))

    fileprivate static let rowsConserved = InvariantRow(
        broken: .imported("the results have a row less") {
            $0.backend(.rowsTaken(job: $0.job, .ten))
            $0.phone(.rowsRead(job: $0.job, .nine))
        },
        kept: .imported("the results have all rows") {
            $0.backend(.rowsTaken(job: $0.job, .ten))
            $0.phone(.rowsRead(job: $0.job, .ten))
        },
        excuses: [
            Excuse(
                name: "an import that an earlier run began",
                inside: Example("its end is not known") {
                    $0.launch(restored: 1)
                    $0.phone(.queued(.interrupted))
                    $0.send(.stream, job: "from-before")
                    $0.phone(.rowsRead(job: "from-before", .ten))
                    $0.onDisk(.interrupted)
                },
                outside: .imported("an import of this run") {
                    $0.phone(.rowsRead(job: $0.job, .ten))
                })
        ],
        scenario: ShippedScenario(name: "csv-import"))

    fileprivate static let cancelFinal = InvariantRow(
        broken: Example("a book is added after the cancel") {
            $0.streaming()
            $0.cancel()
            $0.phone(.bookAdded(ordinal: 0, book: $0.book(0)))
        },
        kept: Example("the job is canceled") {
            $0.streaming()
            $0.cancel()
        },
        excuses: [
            Excuse(
                name: "the terminal event of the job",
                inside: Example("the backend writes that the job was canceled") {
                    $0.streaming()
                    $0.cancel()
                    $0.write(2, .error)
                },
                outside: Example("the backend writes progress") {
                    $0.streaming()
                    $0.cancel()
                    $0.write(2)
                }),
            Excuse(
                name: "the time until the backend has canceled the job",
                inside: Example("the results are served before") {
                    $0.streaming()
                    $0.backend(.resultsServed(job: $0.job, books: 3))
                    $0.cancel()
                },
                outside: Example("the results are served after") {
                    $0.streaming()
                    $0.cancel()
                    $0.backend(.resultsServed(job: $0.job, books: 3))
                }),
        ],
        scenario: ShippedScenario(name: "csv-import"))
}

extension InvariantRow {
    fileprivate static let lookupBilledOnce = InvariantRow(
        broken: .lookedUp("a provider is asked again for the key of a request whose answer was lost") {
            $0.lookUp(isBilled: true)
        },
        kept: .lookedUp("the same request is answered as before") { $0.lookUp(isBilled: false) },
        excuses: [
            Excuse(
                name: "the key has expired",
                inside: .lookedUp("it is sent again after 24 h", later: .hours(24)) {
                    $0.lookUp(isBilled: true)
                },
                outside: .lookedUp("it is sent again after 23 h", later: .hours(23)) {
                    $0.lookUp(isBilled: true)
                })
        ],
        scenario: ShippedScenario(name: "batch-enrichment"))

    fileprivate static let bookShown = InvariantRow(
        broken: Example("completed without a book that was shown") {
            $0.streaming()
            $0.show($0.book(0), $0.foreignBook)
            $0.ending(2)
        },
        kept: Example("completed with all that were shown, one of them twice") {
            $0.streaming()
            $0.show($0.book(0), $0.book(2), $0.book(0), $0.book(1).degraded)
            $0.ending(2)
        },
        excuses: [
            Excuse(
                name: "the job in which it was shown is not followed any more",
                inside: Example("shown by a job that failed") {
                    $0.streaming()
                    $0.show($0.foreignBook)
                    $0.uploadAgain()
                    $0.ending(4)
                },
                outside: Example("shown by the job after it") {
                    $0.streaming()
                    $0.uploadAgain()
                    $0.show($0.foreignBook)
                    $0.ending(4)
                })
        ],
        scenario: ShippedScenario(name: "progressive-results"))

    fileprivate static let bookAnswered = InvariantRow(
        broken: .answered("a look-up is answered with the book of another barcode") {
            $0.isbn = "9780141439587"
        },
        besides: [.bookFaithful],
        kept: .answered("a look-up is answered with the book of its barcode"),
        excuses: [],
        scenario: ShippedScenario(name: "batch-enrichment"))
}

extension History {
    fileprivate var foreignBook: Book {
        var book = self.book(0)
        (book.title, book.isbn) = ("A book of another photo", nil)
        return book
    }

    fileprivate mutating func show(_ books: Book...) {
        for book in books { self.phone(.bookShown(job: self.job, book: book)) }
    }

    /// The job fails, and its photo goes up once more.
    fileprivate mutating func uploadAgain() {
        self.fail(2, retryable: true)
        let failed = self.job
        self.phone(.queued(.retryableError))
        self.send(.cleanup, job: failed)
        self.backend(.cleaned(job: failed, effective: true))
        self.phone(.replied(.cleanup, attempt: 1, status: 204, took: .milliseconds(2)))
        self.phone(.cleanupAnswered(job: failed, status: 204, took: .milliseconds(2)))
        self.job = "job-2"
        self.upload(attempt: 2)
        self.open(attempt: 2)
        self.event(3)
    }
}

extension Example {
    /// A look-up of a book of the shelf, whose answer may be changed.
    fileprivate static func answered(
        _ name: String, _ change: @escaping @Sendable (inout Book) -> Void = { _ in }
    ) -> Example {
        Example(name) { history in
            history.launch()
            history.capture()
            history.send(.upload, job: nil)
            let ordinal = (0...2).first { history.book($0).isbn != nil } ?? 0
            var book = history.book(ordinal)
            history.phone(.keySent(attempt: 1, key: EnrichmentRequest.key(barcode: book.isbn ?? "")))
            change(&book)
            history.phone(.bookAdded(ordinal: ordinal, book: book))
            history.onDisk(.transport)
        }
    }
}

extension Example {
    /// A look-up whose first answer is lost, and that is sent again.
    fileprivate static func lookedUp(
        _ name: String, later: Interval = .seconds(2),
        _ again: @escaping @Sendable (inout History) -> Void
    ) -> Example {
        Example(name) {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.phone(.keySent(attempt: 1, key: "scan_\($0.scan.raw)"))
            $0.lookUp(isBilled: true)
            $0.phone(.requestFailed(.upload, attempt: 1, .reset, took: .milliseconds(3)))
            $0.phone(.queued(.transport))
            $0.pass(later)
            $0.send(.upload, attempt: 2, job: nil)
            $0.phone(.keySent(attempt: 2, key: "scan_\($0.scan.raw)"))
            again(&$0)
            $0.addBooks()
            $0.complete()
        }
    }
}

extension History {
    fileprivate mutating func lookUp(isBilled: Bool) {
        self.backend(
            .bookLookedUp(
                BookLookup(
                    key: "scan_\(self.scan.raw)", barcode: "9780141439587", isFound: true, isBilled: isBilled
                )))
    }
}

extension RowCounts {
    fileprivate static let ten = Self.counts(created: 7)
    fileprivate static let nine = Self.counts(created: 6)

    private static func counts(created: Int) -> RowCounts {
        var counts = RowCounts()
        counts.created = created
        counts.updated = 1
        counts.skipped = 1
        counts.failed = 1
        return counts
    }
}

extension Example {
    /// A file of ten rows, about which something is said before the scan is completed.
    fileprivate static func imported(
        _ name: String, _ said: @escaping @Sendable (inout History) -> Void
    ) -> Example {
        Example(name) {
            $0.streaming()
            $0.phone(.filePrepared(.rows(10)))
            $0.terminal(2)
            said(&$0)
            $0.addBooks()
            $0.complete()
            $0.clean()
        }
    }
}

// MARK: Histories with something left open

extension Example {
    /// A capture is refused because so many scans wait.
    fileprivate static func queue(_ name: String, of count: UInt32) -> Example {
        Example(name) {
            $0.launch()
            for scan in 1...count + 1 {
                $0.scan = ScanNumber(scan)
                $0.phone(.captured(scheduled: $0.now))
                if scan <= count { $0.onDisk(.captured) }
            }
            $0.phone(.refused(code: "QUEUE_FULL", cause: .queue))
        }
    }

    /// A scan with a changed first book, after an event of this kind.
    fileprivate static func firstBook(
        _ name: String, _ kind: EventKind, _ change: @escaping @Sendable (inout Book) -> Void
    ) -> Example {
        Example(name) {
            $0.streaming()
            $0.event(2, kind)
            $0.terminal(3)
            var book = $0.book(0)
            change(&book)
            $0.phone(.bookAdded(ordinal: 0, book: book))
            $0.addBooks([1, 2])
            $0.complete()
            $0.clean()
        }
    }

    /// The server goes on with what it has left, and brings no books.
    fileprivate static func forgotten(_ name: String, fetches: Bool) -> Example {
        Example(name) {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.open(attempt: 2, after: History.id(1), serverAfter: nil)
            $0.terminal(7, inline: .absent)
            if fetches { $0.phone(.resultsDecoded(job: $0.job, books: 3, took: .milliseconds(4))) }
            $0.addBooks()
            $0.complete()
            $0.clean()
        }
    }

    /// The process is killed some time after it has applied two events; its storage has the first.
    fileprivate static func keptBehind(
        _ name: String, _ time: Interval, _ between: @escaping @Sendable (inout History) -> Void = { _ in }
    ) -> Example {
        Example(name) {
            $0.launch()
            $0.capture()
            $0.upload()
            $0.open()
            $0.event(0)
            $0.pass(.seconds(3))
            $0.event(1)
            between(&$0)
            $0.pass(time - .milliseconds(2))
            $0.kill(keeping: $0.job, after: History.id(0))
            $0.launch(restored: 1)
            $0.open(attempt: 2, after: History.id(0), serverAfter: 0)
            $0.event(1, replayed: true)
            $0.ending(2)
        }
    }

    /// A server that does not heed Last-Event-ID says all again; the phone applies what comes from one position on.
    fileprivate static func startedOver(_ name: String, applying first: Int) -> Example {
        Example(name) {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            $0.open(attempt: 2, after: History.id(1), serverAfter: nil)
            for position in 0...2 {
                $0.write(position, replayed: position < 2)
                if first <= position { $0.apply(position, replayed: position < 2) }
            }
            $0.ending(3)
        }
    }

    /// A job whose terminal event is applied, and after something else once more.
    fileprivate static func endedTwice(
        _ name: String, _ between: @escaping @Sendable (inout History) -> Void
    ) -> Example {
        Example(name) {
            $0.streaming()
            $0.terminal(2)
            between(&$0)
            $0.open(attempt: 2, after: History.id(2), serverAfter: 2)
            $0.ending(2)
        }
    }

    /// A job that is given up after so many DELETEs that were hit.
    fileprivate static func givenUp(_ name: String, after count: UInt32) -> Example {
        .completed(name) {
            for attempt in 1...count {
                $0.answerDelete(503, attempt: attempt)
                $0.pass(.milliseconds(400))
            }
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.serverError)))
        }
    }

    /// A DELETE that is answered by 401.
    fileprivate static func turnedAway(
        _ name: String, revoked: String?, lifetime: Interval = .hours(2)
    ) -> Example {
        .completed(name, tokenLifetime: lifetime) {
            if let revoked { $0.backend(.tokenRevoked(job: revoked)) }
            $0.send(.cleanup, job: $0.job)
            $0.phone(.replied(.cleanup, attempt: 1, status: 401, took: .milliseconds(1)))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.tokenExpired)))
        }
    }

    /// A job that failed, and whose phone is killed so long afterwards.
    fileprivate static func discarded(_ name: String, after wait: Interval) -> Example {
        Example(name) {
            $0.streaming()
            $0.fail(2, retryable: true)
            $0.phone(.queued(.retryableError))
            $0.pass(wait)
            $0.kill(keeping: nil)
            $0.launch(restored: 1)
            $0.pass(.seconds(9))
            $0.onDisk(.retryableError)
        }
    }

    /// A running job that is left without a DELETE.
    fileprivate static func leftRunning(
        _ name: String, status: Int, _ before: @escaping @Sendable (inout History) -> Void = { _ in }
    ) -> Example {
        Example(name) {
            $0.streaming()
            $0.phone(.streamLost(job: $0.job, attempt: 1, .reset, silence: nil))
            before(&$0)
            $0.send(.stream, attempt: 2, job: $0.job, after: History.id(1))
            $0.phone(.replied(.stream, attempt: 2, status: status, took: .milliseconds(1)))
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.jobGone)))
            $0.phone(.queued(.jobGone))
            $0.onDisk(.jobGone)
        }
    }

    /// A running job that is given up when the app leaves the screen, and whose DELETE fails there.
    fileprivate static func givenUpAway(_ name: String, isFired: Bool) -> Example {
        Example(name) {
            $0.streaming()
            $0.leaveTheScreen()
            $0.send(.cleanup, job: $0.job)
            if isFired { $0.fault(.fired(fault: 0, .cleanup, attempt: 1)) }
            $0.failDelete()
            $0.phone(.jobAbandoned(job: $0.job, cause: .waiting(.transport)))
            $0.onDisk(.suspended)
        }
    }

    /// Eleven jobs to delete, ten of which are deleted at once, and so much later the end.
    fileprivate static func eleventh(_ name: String, wait: Interval) -> Example {
        Example(name) {
            $0.launch()
            for number: UInt32 in 1...11 {
                $0.scan = ScanNumber(number)
                $0.job = "job-\(number)"
                $0.capture()
                $0.upload()
                $0.open()
                $0.terminal(0)
                $0.addBooks()
                $0.complete()
                if number < 11 { $0.send(.cleanup, job: $0.job) }
            }
            for number: UInt32 in 1...10 {
                $0.scan = ScanNumber(number)
                $0.job = "job-\(number)"
                $0.backend(.cleaned(job: $0.job, effective: true))
                $0.phone(.replied(.cleanup, attempt: 1, status: 204, took: .milliseconds(2)))
                $0.phone(.cleanupAnswered(job: $0.job, status: 204, took: .milliseconds(2)))
            }
            $0.pass(wait)
        }
    }

    /// Another upload of a scan with a job.
    fileprivate static func superseded(_ name: String, isAcceptedFirst: Bool) -> Example {
        Example(name) {
            $0.streaming()
            if !isAcceptedFirst { $0.clean() }
            $0.job = "job-2"
            $0.upload(attempt: 2)
            $0.job = "job-1"
            if isAcceptedFirst { $0.clean() }
            $0.job = "job-2"
            $0.open(attempt: 2)
            $0.ending(0)
        }
    }

    /// An upload so long after the phone has the head of a 429 that asks for nine seconds.
    fileprivate static func limited(
        _ name: String, wait: Interval,
        _ between: @escaping @Sendable (inout History) -> Void = { _ in },
        onItsWay: @escaping @Sendable (inout History) -> Void = { _ in }
    ) -> Example {
        Example(name) {
            $0.launch()
            $0.capture()
            $0.send(.upload, job: nil)
            $0.uploadProblem(429, retryable: true, retryAfter: .seconds(9))
            let told = $0.now - .milliseconds(1)
            onItsWay(&$0)
            $0.phone(.queued(.rateLimited))
            between(&$0)
            $0.pass(told + wait - $0.now)
            $0.send(.upload, attempt: 2, job: nil)
            $0.onDisk(.rateLimited)
        }
    }

    /// Six streams, and what happens before the last of them.
    fileprivate static func sixStreams(
        _ name: String, _ beforeTheLast: @escaping @Sendable (inout History) -> Void
    ) -> Example {
        Example(name) {
            $0.launch()
            for scan in UInt32(1)...6 {
                if scan == 6 {
                    $0.scan = ScanNumber(1)
                    $0.job = "job-1"
                    beforeTheLast(&$0)
                }
                $0.scan = ScanNumber(scan)
                $0.job = "job-\(scan)"
                $0.capture()
                $0.upload()
                $0.open()
                $0.onDisk(.interrupted)
            }
        }
    }
}
