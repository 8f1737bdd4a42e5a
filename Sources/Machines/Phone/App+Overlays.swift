import Observations
import SimBase
import Talaria
import Wire

// A client that shows a warning or an error inside its loop over the events of a job: later events are held.

extension App {
    /// Blocks the stream of a scan while something is shown.
    ///
    /// - Returns: Whether the profile shows it that way.
    mutating func showOverlay(_ index: Int, at now: Instant) -> Bool {
        guard self.profile.events.overlay > .zero else { return false }
        let until = now + self.profile.events.overlay
        self.active[index].stage.update { $1.block(until: until) }
        return true
    }

    /// Whether a part of a stream has to wait until its client reads again.
    func isBlocked(_ index: Int) -> Bool {
        self.profile.events.overlay > .zero && self.active[index].stage.blockedUntil != nil
    }

    /// Keeps what came on a stream that is not read.
    ///
    /// - Returns: Whether the stream was given up, because it was too much.
    mutating func hold(
        _ items: [SSEItem], _ index: Int, exchange: Int, at now: Instant, into effects: inout [PhoneEffect]
    ) -> Bool {
        guard !self.active[index].stage.update({ $1.hold(items) }) else { return false }
        let given = self.exchanges.remove(at: exchange)
        self.observe(
            .badAnswer(.stream, attempt: given.attempt, .overlongStream), of: given.scan, at: now,
            into: &effects)
        given.abort(into: &effects)
        self.streamLost(given.scan, .badAnswer, after: nil, at: now, into: &effects)
        return true
    }

    /// Keeps the end of a stream that is not read, if it is one: what came before it is read first.
    ///
    /// - Returns: Whether it was kept.
    mutating func hold(_ ending: Exchange.Ending, exchange: Int) -> Bool {
        guard self.profile.events.overlay > .zero, self.exchanges[exchange].purpose == .stream,
            let index = self.activeIndex(self.exchanges[exchange].scan), self.isBlocked(index)
        else { return false }
        if self.exchanges[exchange].ending == nil {
            self.exchanges[exchange].ending = ending
            self.active[index].stage.update { $1.bodyEnded() }
        }
        return true
    }

    /// Reads on where nothing is shown any more.
    mutating func readOn(at now: Instant, into effects: inout [PhoneEffect]) {
        guard self.profile.events.overlay > .zero else { return }
        for scan in self.active.indices.map({ self.active[$0].number }) {
            guard let index = self.activeIndex(scan),
                let until = self.active[index].stage.blockedUntil, until <= now
            else { continue }
            guard let exchange = self.exchangeIndex(activeScan: scan) else {
                preconditionFailure("a stream without a request")
            }
            var items = self.active[index].stage.update { $1.unblock() }
            guard !self.read(&items, index, exchange: exchange, at: now, into: &effects).isOver,
                !self.isBlocked(index), let ending = self.exchanges[exchange].ending
            else { continue }
            let ended = self.exchanges.remove(at: exchange)
            switch ending {
            case .whole: self.streamLost(scan, .endWithoutTerminal, after: nil, at: now, into: &effects)
            case .failed(let failure): self.requestFailed(ended, failure, at: now, into: &effects)
            }
        }
    }
}
