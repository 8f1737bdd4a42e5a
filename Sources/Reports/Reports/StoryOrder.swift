package import Observations
import Talaria

/// Puts causes before their effects where both have the same time: in the virtual world an answer can arrive
/// at the very time at which it is sent, and each side reports for itself.
package enum StoryOrder {
    /// Returns the observations, which are in the order of time, with simultaneous ones in the order of cause and effect.
    package static func causesFirst(_ observations: [Observation]) -> [Observation] {
        var ordered = observations
        var index = 0
        while index < ordered.count {
            let later = ordered[(index + 1)...].prefix { $0.at == ordered[index].at }
            guard let cause = later.firstIndex(where: { self.isCause($0, of: ordered[index]) }) else {
                index += 1
                continue
            }
            // Its own cause may come later still: it is looked for next. Ends, since faults have none.
            ordered.insert(ordered.remove(at: cause), at: index)
        }
        return ordered
    }

    /// Whether an observation of the phone is the arrival of what the server has sent at the same time: both
    /// say the same.
    package static func isArrival(_ observation: Observation, of sent: Observation) -> Bool {
        guard observation.at == sent.at, (observation.device, observation.scan) == (sent.device, sent.scan),
            case .backend(let server) = sent.what, case .phone(let phone) = observation.what
        else { return false }
        if case .answered(let asked, let tried, let status) = server {
            if case .replied(let operation, let attempt, status, _) = phone {
                return (asked, tried) == (operation, attempt)
            }
        }
        if case .eventWritten(_, let sent, _, _, let isReplay) = server,
            case .eventApplied(_, let read, _, _, isReplay) = phone
        {
            return sent == read
        }
        return false
    }

    private static func isCause(_ cause: Observation, of effect: Observation) -> Bool {
        guard cause.device == effect.device else { return false }
        let isOfScan = cause.scan == effect.scan
        if case .fault(let fault) = cause.what {
            if case .phone(let phone) = effect.what { return self.isCause(fault, of: phone) }
            if case .fired(_, let faulted, let tried) = fault,
                case .backend(.answered(let operation, let attempt, _)) = effect.what
            {
                return isOfScan && (faulted, tried) == (operation, attempt)
            }
        }
        if case .backend(let server) = cause.what, case .phone(let phone) = effect.what {
            return isOfScan && self.isCause(server, of: phone)
        }
        return false
    }

    private static func isCause(_ cause: FaultObservation, of effect: PhoneObservation) -> Bool {
        switch cause {
        case .fired(_, let faulted, let tried):
            if case .streamLost(_, let attempt, _, _) = effect {
                return (faulted, tried) == (.stream, attempt)
            }
            if case .requestFailed(let operation, let attempt, _, _) = effect {
                return (faulted, tried) == (operation, attempt)
            }
            return false
        case .began:
            return [.killed, .suspended, .pathLost, .pathChanged, .storageFilled].contains(effect)
        case .ended: return [.resumed, .pathReturned, .storageFreed].contains(effect)
        case .decided, .passed: return false
        }
    }

    private static func isCause(_ cause: BackendObservation, of effect: PhoneObservation) -> Bool {
        if case .eventWritten(let job, let sent, _, _, _) = cause,
            case .eventApplied(let of, let read, _, _, _) = effect
        {
            return job == of && sent == read
        }
        guard case .replied(let operation, let attempt, _, _) = effect else { return false }
        if case .answered(let asked, let tried, _) = cause { return (asked, tried) == (operation, attempt) }
        if case .streamOpened(_, let tried, _) = cause { return (operation, attempt) == (.stream, tried) }
        if case .accepted = cause { return operation == .upload }
        if case .bookLookedUp = cause { return operation == .upload }
        if case .cleaned = cause { return operation == .cleanup }
        if case .canceled = cause { return operation.isDelete }
        return false
    }
}
