package import Observations
package import SimBase

/// What the operator of a live run asks for.
package enum ControlOrder: Hashable, Sendable {
    /// Ends the run as Ctrl-C does: with a report.
    case stop
    /// Holds arrivals back until `resume`.
    case pause
    case resume
    /// Lets so many more phones of a group capture, or fewer if negative. `group` is nil where there is only one.
    case phones(by: Int, group: String?)
    /// Starts a fault of the scenario at once.
    case fault(String)
    /// Takes the paths of all phones away for some time.
    case offline(for: Interval)
    /// Ends the page of a run that is over.
    case close
}

/// What an order does. The driver carries it out.
package enum ControlEffect: Hashable, Sendable {
    case stop
    case holdArrivals
    case releaseArrivals
    /// These phones of a group, counted from 0 among those that run, capture nothing more.
    case rest(group: Int, phones: Range<Int>)
    /// These phones capture again.
    case wake(group: Int, phones: Range<Int>)
    /// The index of a fault of the scenario.
    case fault(Int)
    case offline(for: Interval)
    case close
}

/// An order that is carried out.
package struct ControlDecision: Hashable, Sendable {
    package var effect: ControlEffect
    /// What the log of the run says; nil for what is not done to the run.
    package var observation: ControlObservation?
}

/// Why an order is not carried out, in one sentence.
package struct ControlRefusal: Error, Hashable, Sendable {
    package var text: String

    package init(_ text: String) { self.text = text }
}
