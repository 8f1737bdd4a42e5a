import Faults
import OriginServer
import SimBase
import SimTestSupport
import Testing

@testable import Backend

/// The transitions of a job and of its streams: `Docs/machines/job.md` is made from them.
@Suite struct JobTransitionTests {
    @Test(arguments: JobState.allCases)
    func `a state of a job is reached`(state: JobState) {
        #expect(JobState.of(state.reached()) == state)
    }

    @Test(arguments: JobStreamState.allCases)
    func `a state of a stream is reached`(state: JobStreamState) {
        #expect(JobStreamState.of(state.reached()) == state)
    }

    @Test func `the page of a job is what the code does`() throws {
        let page = """
            # Job

            The states of a job of the simulated backend: `Job.Phase`, and after its removal `Tombstones`. What is not listed
            changes nothing. A dialect with two terminal events has the state `ending` between `running` and `finished`, which
            behaves like `finished`: it ends with the second event.

            - `absent`: no upload has been accepted
            - `removed`: requests get 410
            - `forgotten`: requests get 404

            \(Transition.table(Transition.all(of: JobState.self, by: JobInput.self)))

            ## Streams of a job

            The states of one stream, with `stream-linger`. Without it, a stream is `over` where the table says `lingering`.

            \(Transition.table(Transition.all(of: JobStreamState.self, by: JobInput.self)))

            """
        #expect(try MachinePage("job", page).difference() == nil)
    }
}

/// A backend with at most one job, and one stream of it.
struct JobBench {
    var bench = Bench { configuration in
        configuration.tombstonesMax = 1
        configuration.streamLinger = .seconds(3)
    }
    var job: Bench.Job?
    var stream: ExchangeID?

    var jobState: JobState {
        guard let job = self.job, let key = JobKey(jobID: job.id) else { return .absent }
        switch self.bench.backend.jobs[key]?.phase {
        case .running: return .running
        case .ending, .finished: return .finished
        case .settled: return .settled
        case nil: return self.bench.backend.tombstones.contains(key) ? .removed : .forgotten
        }
    }

    var streamState: JobStreamState {
        guard let stream = self.stream else { return .absent }
        if self.bench.backend.streams[stream] != nil { return .open }
        return self.bench.backend.lingering[stream] != nil ? .lingering : .over
    }
}

enum JobState: String, MachineState {
    case absent, running, finished, settled, removed, forgotten

    static func of(_ machine: JobBench) -> Self { machine.jobState }

    func reached() -> JobBench {
        var machine = JobBench()
        let inputs: [JobInput] =
            switch self {
            case .absent: []
            case .running: [.accepted]
            case .finished: [.accepted, .scriptEnds]
            case .settled: [.accepted, .scriptEnds, .bufferEnds]
            case .removed: [.accepted, .cleanup]
            case .forgotten: [.accepted, .cleanup, .othersRemoved]
            }
        for input in inputs { _ = input.apply(to: &machine) }
        return machine
    }
}

enum JobStreamState: String, MachineState {
    case absent, open, lingering, over

    static func of(_ machine: JobBench) -> Self { machine.streamState }

    func reached() -> JobBench {
        var machine = JobState.running.reached()
        let inputs: [JobInput] =
            switch self {
            case .absent: []
            case .open: [.streamRequested]
            case .lingering: [.streamRequested, .scriptEnds]
            case .over: [.streamRequested, .clientGone]
            }
        for input in inputs { _ = input.apply(to: &machine) }
        return machine
    }
}

enum JobInput: String, MachineInput {
    case accepted = "upload: 202"
    case streamRequested = "a stream is requested"
    case scriptEnds = "the job time is over"
    case canceled = "DELETE of the job"
    case finalError = "a `final-error` or `retryable-error`"
    case tokenExpired = "an `expire-token`"
    case eventsLost = "a `forget-events`"
    case jobGone = "a `job-gone` with 410"
    case jobUnknown = "a `job-gone` with 404"
    case cleanup = "DELETE of the results"
    case clientGone = "the client is gone"
    case lingerEnds = "`stream-linger` is over"
    case bufferEnds = "the event buffer is over"
    case lifetimesEnd = "the lifetimes of token and results are over"
    case othersRemoved = "`tombstones-max` other jobs are removed"

    func apply(to machine: inout JobBench) -> Bool {
        guard let job = machine.job else {
            guard self == .accepted else { return false }
            machine.job = machine.bench.job()
            return true
        }
        let configuration = machine.bench.backend.configuration
        let end = Instant.zero + .seconds(10)
        /// Another stream of the job, which meets a fault.
        func meet(_ fault: FaultKind) {
            machine.bench.stream(job, attempt: 9, faults: [.armed(fault)])
        }
        switch self {
        case .accepted: return false
        case .streamRequested:
            guard machine.stream == nil else { return false }
            machine.stream = machine.bench.stream(job).exchange
        case .scriptEnds:
            guard machine.jobState == .running else { return false }
            machine.bench.run(to: end)
        case .canceled: _ = machine.bench.cancel(job)
        case .finalError: meet(.finalError(code: "NO_TEXT_DETECTED"))
        case .tokenExpired: meet(.expireToken)
        case .eventsLost: meet(.forgetEvents)
        case .jobGone: meet(.jobGone(status: 410))
        case .jobUnknown: meet(.jobGone(status: 404))
        case .cleanup: machine.bench.cleanup(job)
        case .clientGone:
            guard let stream = machine.stream else { return false }
            machine.bench.handle(.aborted(stream))
        case .lingerEnds:
            guard machine.streamState == .lingering else { return false }
            machine.bench.run(to: end + configuration.streamLinger)
        case .bufferEnds:
            guard machine.jobState == .finished, machine.streamState == .absent else { return false }
            machine.bench.run(to: end + configuration.eventBuffer)
        case .lifetimesEnd:
            guard machine.jobState == .settled else { return false }
            machine.bench.run(to: end + max(configuration.tokenLifetime, configuration.resultsLifetime))
        case .othersRemoved:
            guard machine.jobState == .removed else { return false }
            machine.bench.cleanup(machine.bench.job(Bench.caller(device: 5)))
        }
        return true
    }
}
