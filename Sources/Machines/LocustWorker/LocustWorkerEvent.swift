package import SimBase

/// What happens to a worker.
package enum LocustWorkerEvent: Hashable, Sendable {
    case started
    case received(MasterMessage)
    /// Something that is not a message, or lacks what its type needs.
    case receivedMalformed
    /// The scenario can be run here.
    case prepared
    case preparationFailed
    /// Phones have stopped as ordered.
    case closed([ClosedPhone])
    /// The run of the present test is judged and written.
    case runEnded
    case usageMeasured(ProcessUsage)
    /// Ctrl-C.
    case interrupted
    case woke
}

/// What a worker wants done.
package enum LocustWorkerEffect: Hashable, Sendable {
    case send(WorkerMessage)
    /// Sends what was measured since the last report. `last`: the run has ended.
    case report(users: [SpawnOrder.Count])
    /// Closes the socket and connects again.
    case resetConnection
    case prepare(ScenarioOffer)
    case beginRun(TestOrder, host: String?)
    case open([LeasedPhone])
    case close([DeviceNumber])
    case endRun(RunEnd)
    /// Sends the evidence of this test.
    case handOver(test: String)
    case note(LocustWorkerNote)
    case exit(LocustWorkerExit)
}

/// How a run is to end.
package enum RunEnd: Hashable, Sendable {
    /// Captures end; unfinished scans get the time of the scenario's drain.
    case drained
    /// Phones shut down now, and what they leave open does not count as a fault.
    case atOnce
}

/// What a person should know.
package enum LocustWorkerNote: Hashable, Sendable {
    case masterSilent
    /// The master answers no question for the scenario: it has no plugin, or is not there.
    case noScenario
    /// The master merges with another version of this program; nil if it does not say with which.
    case otherVersion(String?)
    /// The master does not take this worker.
    case refused(reason: String)
    /// A spawn order without a test, as a master without the plugin sends it.
    case spawnedWithoutTest
    case malformedMessage
    /// The worker was to run more phones than it can.
    case full(phonesMax: Int)
    /// The master has no more numbers for phones of this group.
    case outOfNumbers(group: String)
}

/// Why the program ends.
package enum LocustWorkerExit: Hashable, Sendable {
    case quitByMaster
    /// No master in all the attempts.
    case noMaster
    /// The master and this worker are of different versions.
    case refused
    case preparationFailed
    case interrupted
}

package struct LocustWorkerSettings: Hashable, Sendable {
    /// Name and version of this program.
    package var tool: String
    package var phonesMax: Int
    /// The silence of the master after which it counts as gone. It answers every heartbeat.
    package var masterSilenceMax: Interval

    package init(tool: String, phonesMax: Int, masterSilenceMax: Interval) {
        self.tool = tool
        self.phonesMax = phonesMax
        self.masterSilenceMax = masterSilenceMax
    }

    /// As Locust's own workers have them (`locust/runners.py`).
    static let heartbeatInterval = Interval.seconds(1)
    static let statsInterval = Interval.seconds(3)
    static let retryInterval = Interval.seconds(5)
    static let attemptsMax = 60
    /// Attempts before a person hears of it.
    static let attemptsQuiet = 3
}
