import LocustWorker
import RunDriver
import SimBase

extension LocustWorkerNote {
    func text(_ request: WorkerRequest) -> String {
        let master = "the master at \(request.host):\(request.port)"
        return switch self {
        case .masterSilent:
            "\(master) has not answered for \(request.masterSilenceMax.nanoseconds / 1_000_000_000) s: phones stop, and what they found stays in the folder of the run"
        case .noScenario:
            "\(master) gives out no scenario: start it with Distributed/locustfile.py of this version"
        case .otherVersion(let tool):
            "\(master) merges with \(tool.map { Printable.line($0) } ?? "an earlier version"), and this is \(ThisProgram.tool): use one version everywhere"
        case .refused(let reason): "\(master) does not take this worker: \(Printable.line(reason))"
        case .spawnedWithoutTest:
            "\(master) wants users of no test: start it with Distributed/locustfile.py of this version"
        case .malformedMessage: "\(master) sent a message that cannot be read"
        case .full(let phones):
            "\(master) wants more than \(phones) phones here: start more workers, or raise --phones"
        case .outOfNumbers(let group):
            "\(master) has no more phones for \(Printable.line(group)): start the test with more users (-u)"
        }
    }
}
