import CurlLoop
import EventLoop
import LiveServer
import RunArchive
import RunJudge
import SimBase

/// The run's own backend, or its gateway to a foreign one: it is started, receives the zero, is identified by
/// its nonce, and ends.
extension LiveRun {
    /// Nil if the run was interrupted by then.
    func startChild() throws -> (base: String, curl: CurlTarget)? {
        let nonce = Hexadecimal.text(UInt64.random(in: .min ... .max), digits: 16)
        let path = self.directory.path + "/" + RunDirectory.FileName.scenario
        let words =
            self.request.target.map { $0.proxyWords(scenarioPath: path, nonce: nonce) }
            ?? ["serve", "--embedded", nonce, "--", path]
        let child = try BackendChild(words, loop: self.loop) { [unowned self] reports in
            self.feed.receive(backend: reports)
        }
        self.child = child
        try self.wait(for: child, "read the resolved scenario") { child.isReady }
        guard !self.feed.judge.isInterrupted else { return nil }
        try self.setZero()
        self.noticeInterruption()
        guard !self.feed.judge.isInterrupted else { return nil }
        child.begin(clock: self.clock, wallClockAtZero: self.startedWall)
        try self.wait(for: child, "listen") { child.base != nil }
        guard !self.feed.judge.isInterrupted, let base = child.base,
            let port = base.split(separator: ":").last.flatMap({ UInt16($0) })
        else { return nil }

        // No load before it is certain that this is the server that was started.
        let curl = self.preparation.curlTarget(port: port)
        let answer = Preflight.ask(
            base + SocketServer.noncePath, headers: [], target: curl, loop: self.loop)
        self.noticeInterruption()
        guard !self.feed.judge.isInterrupted else { return nil }
        switch answer {
        case .success(let answer) where answer.head.status == 200 && answer.body == nonce:
            return (base, curl)
        case .success(let answer):
            throw CommandFailure(
                .unavailable,
                "another server answers on \(base) (status \(answer.head.status)); no load was sent")
        case .failure(let failure):
            throw CommandFailure(.unavailable, "the backend on \(base) does not answer: \(failure.text)")
        }
    }

    private func wait(for child: BackendChild, _ what: String, until holds: () -> Bool) throws {
        let isDone = self.loop.turn(
            until: { holds() || child.exit != nil || self.isAskedToEnd },
            atMost: BackendChild.patience)
        self.noticeInterruption()
        guard !self.feed.judge.isInterrupted else { return }
        guard child.exit == nil, isDone else {
            throw CommandFailure(
                .internalError, "the backend process did not start: it could not \(what)")
        }
    }

    /// Lets the backend exit by itself and reads its reports to the end.
    func endChild() {
        guard let child = self.child, !self.feed.judge.hasLostBackend else { return }
        child.release()
        let isOver = self.loop.turn(
            until: { child.exit != nil && child.isToldOut }, atMost: BackendChild.patience)
        if !isOver {
            child.kill()
            _ = self.loop.turn(until: { child.exit != nil }, atMost: .seconds(2))
            self.lostBackend("did not exit and was killed")
        } else if !child.hasEndedWell {
            self.lostBackend(child.endText ?? "died (unknown end)")
        }
        self.feed.closeBackend()
    }
}
