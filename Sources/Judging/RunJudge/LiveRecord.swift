package import Ledger
import Observations
package import SimBase

/// What a plan of a live run was kept for.
package struct LiveRecord: Hashable, Sendable {
    /// Something that went wrong in the run.
    package struct Failure: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            case broken(Invariant)
            /// A scan that was neither completed nor refused at the end.
            case unfinished
        }

        package var kind: Kind
        /// Nil if it is about no one phone.
        package var device: DeviceNumber?
        /// `ScanNumber.none` where it is about no one scan.
        package var scan: ScanNumber
        package var at: Instant
        package var text: String

        package init(_ kind: Kind, device: DeviceNumber?, scan: ScanNumber, at: Instant, text: String) {
            self.kind = kind
            self.device = device
            self.scan = scan
            self.at = at
            self.text = text
        }

        /// The id of the invariant, or `unfinished`.
        package var name: String {
            switch self.kind {
            case .broken(let invariant): invariant.rawValue
            case .unfinished: Self.unfinished
            }
        }

        package static let unfinished = "unfinished"

        /// `phone 7, scan 2`; empty if it is about neither.
        package var subject: String {
            let phone = self.device.map { "phone \($0.raw)" }
            let scan = self.scan == .none ? nil : "scan \(self.scan.raw)"
            return [phone, scan].compactMap(\.self).joined(separator: ", ")
        }
    }

    /// Failures that are kept, and of these of one invariant.
    package static let failuresMax = 32
    package static let failuresOfAnInvariantMax = 4

    /// The command that runs it again, as one line for a shell.
    package var command: String
    package var failures: [Failure]
    /// Phones with failures that the plan has no room for, and faults of its phones.
    package var phonesLeftOut = 0
    package var faultsLeftOut = 0

    package init(command: String, failures: [Failure]) {
        self.command = command
        self.failures = failures
    }

    /// Creates the record of a run that has been judged.
    ///
    /// - Parameter waiting: The scans that the phones' storages had at the end.
    package init(_ result: RunResult, waiting: [WaitingRecord]) {
        self.init(command: RerunCommand.line(result.command), failures: [])
        for verdict in result.verdicts where verdict.standing == .broken {
            let examples = verdict.examples.filter { !$0.isExpected }
            self.failures += examples.prefix(Self.failuresOfAnInvariantMax).map {
                Failure(
                    .broken(verdict.invariant), device: $0.device, scan: $0.scan, at: max(.zero, $0.at),
                    text: $0.text)
            }
        }
        let end = Instant.zero + result.length
        self.failures += waiting.map {
            Failure(
                .unfinished, device: $0.device, scan: $0.scan, at: end,
                text: "not finished at the end of the run: \($0.cause.rawValue)")
        }
        self.failures = Array(self.failures.prefix(Self.failuresMax))
    }

    /// The phones that it names, each once, the gravest failure first.
    package var phones: [DeviceNumber] {
        var phones: [DeviceNumber] = []
        for failure in self.failures {
            if let device = failure.device, !phones.contains(device) { phones.append(device) }
        }
        return phones
    }
}
