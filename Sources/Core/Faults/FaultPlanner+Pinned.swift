package import SimBase

// What the faults did in one run, as faults of a new plan: without chance, and with the values that were
// drawn.

extension FaultPlanner {
    /// The fault as it acted on one exchange.
    ///
    /// A fault that may act on each attempt stays one for all attempts of the scan, because what it counts is not known from a
    /// single firing.
    ///
    /// - Parameter fault: The index of the fault in the list.
    /// - Parameter opened: The time at which the exchange began, from the start of the run.
    /// - Parameter scan: The number that the scan has in the new plan.
    package func pinned(
        _ fault: Int, to key: ExchangeKey, opened: Instant, scan: ScanNumber
    ) -> FaultSpec {
        var spec = self.specs[fault]
        spec.scope = .phone(key.device)
        guard !spec.actsRepeatedly else {
            if spec.chance < .always { spec.scan = scan.raw }
            spec.chance = .always
            return spec
        }
        spec.chance = .always
        spec.count = .oncePerScan
        spec.scan = scan.raw
        spec.attempt = key.attempt
        spec.trigger = self.drawnTrigger(fault, key)
        // An exchange that was open before the window began waited for it.
        if Instant.zero + spec.window.at <= opened { spec.window = .always }
        return spec
    }

    /// The fault of a phone as it began in the window that was drawn for it.
    package func pinned(_ window: PhoneWindow, device: DeviceNumber) -> FaultSpec {
        var spec = self.specs[window.fault]
        spec.scope = .phone(device)
        spec.chance = .always
        spec.spread = .zero
        spec.window.at = window.from - .zero
        switch window.trigger {
        case .afterRecords(let count): spec.trigger = .afterRecords(count...count)
        case .afterStep, nil: break
        }
        return spec
    }
}

extension FaultSpec {
    /// Whether it may act on every attempt, or on all data of an exchange.
    package var actsRepeatedly: Bool { self.count == .eachAttempt || self.kind.has(.lasts) }
}
