import EventLoop
import Foundation
import LocustWorker
import Plan
import RunDriver
import RunJudge
import ScenarioFile
import SystemIO

/// The scenario that the master gave out, ready to be run.
final class WorkerScenario {
    private static let fileName = "scenario.resolved"

    private let folder: String
    private let loaded: LoadedScenario
    private let photos: PhotoCorpus

    /// Throws for a scenario that cannot be read or whose photos are not on this machine.
    init(_ offer: ScenarioOffer, painter: PhotoCorpus.Painter) throws {
        let folder = try FileTree.makeTemporaryFolder(named: "swiftwing-sim-worker")
        do {
            let path = "\(folder)/\(Self.fileName)"
            try File.write(offer.text, to: path, .replace)
            self.loaded = try LoadedScenario(path: path, overrides: [], environment: [:])
            guard self.loaded.scenario.steps == nil else {
                throw CommandFailure(
                    .usage, "`steps` cannot be run by a worker: \(Scenario.stepsObjection)",
                    hint: "Locust decides how many users there are: give the group a rate or `think`")
            }
            guard self.loaded.scenario.rollout == nil else {
                throw CommandFailure(
                    .usage, "`rollout` cannot be run by a worker: \(Scenario.rolloutObjection)",
                    hint: "leave the rollout out")
            }
            self.photos = try PhotoCorpus(
                RunPlan(self.loaded.scenario, target: .foreign),
                // Photos are relative to the current folder: that of the master's file is on another machine.
                scenarioPath: Self.fileName, painter: painter)
            self.folder = folder
        } catch {
            Self.remove(folder)
            throw error
        }
    }

    func remove() { Self.remove(self.folder) }

    private static func remove(_ folder: String) {
        try? FileTree.remove("\(folder)/\(Self.fileName)")
        FileTree.removeFolder(folder)
    }

    /// The names of the groups, in their order.
    var groups: [String] { self.loaded.scenario.groups.map(\.name) }

    /// Prepares the run of a test. `worker`: sets the folders of several workers on one machine apart.
    func preparation(
        of order: TestOrder, on host: String?, loop: Loop, _ request: WorkerRequest, worker: String
    ) throws -> RunPreparation {
        var loaded = self.loaded
        loaded.scenario = self.loaded.scenario.sized(devices: try self.devices(order))
        let target = try host.map(request.target)
        let output = request.output.map { "\($0)/\(order.test)-\(worker)" }
        let options = RunOptions(
            loaded, command: order.command.isEmpty ? request.command : order.command,
            labels: RunLabels(target: target?.base, tags: request.tags),
            output: output, isTraced: false, isQuiet: true)
        var run = RunRequest(options, target: target)
        run.deviceSalt = target == nil ? nil : order.deviceSalt
        run.hasNewDevices = order.hasNewDevices
        run.threads = request.threads
        run.worker = WorkerTerms(
            loop: loop, phonesMax: request.phonesMax, started: order.started, photos: self.photos)
        return try RunPreparation(run, painter: request.painter)
    }

    /// The sizes of the groups, in their order.
    private func devices(_ order: TestOrder) throws -> [Int] {
        let devices = self.groups.map { name in order.groups.first { $0.group == name }?.phones ?? 0 }
        guard devices.allSatisfy({ $0 > 0 }), order.groups.count == devices.count,
            devices.reduce(0, +) <= ScenarioLimit.devicesMax
        else {
            throw CommandFailure(
                .badData, "the master's groups are not those of the scenario",
                hint: "use the locustfile of the same version of swiftwing-sim")
        }
        return devices
    }
}
