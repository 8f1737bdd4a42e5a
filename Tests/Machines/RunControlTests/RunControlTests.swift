import Observations
import SimBase
import Testing

@testable import RunControl

@Suite struct RunControlTests {
    private static func control(lastArrival: Instant? = .zero + .seconds(20)) -> RunControl {
        RunControl(
            groups: [.init(name: "commuters", phones: 12), .init(name: "readers", phones: 3)],
            faults: [.init(id: "reset-1", isOfPhone: false), .init(id: "offline-1", isOfPhone: true)],
            lastArrival: lastArrival)
    }

    private static func running() -> RunControl {
        var control = Self.control()
        control.began()
        return control
    }

    /// The effect of an order, or why there is none.
    private static func order(
        _ order: ControlOrder, of control: inout RunControl, at seconds: Int64 = 5
    ) -> Result<ControlDecision, ControlRefusal> {
        do throws(ControlRefusal) {
            return .success(try control.handle(order, at: .zero + .seconds(seconds)))
        } catch { return .failure(error) }
    }

    private static func refusal(
        _ order: ControlOrder, of control: inout RunControl, at seconds: Int64 = 5
    ) -> String? {
        guard case .failure(let refusal) = Self.order(order, of: &control, at: seconds) else { return nil }
        return refusal.text
    }

    // MARK: Arrivals

    @Test func `arrivals are paused once and resumed once`() {
        var control = Self.running()
        #expect(Self.refusal(.resume, of: &control) == "arrivals are not paused")
        #expect(
            Self.order(.pause, of: &control)
                == .success(ControlDecision(effect: .holdArrivals, observation: .paused)))
        #expect(control.isPaused)
        #expect(Self.refusal(.pause, of: &control) == "arrivals are already paused")
        #expect(
            Self.order(.resume, of: &control)
                == .success(ControlDecision(effect: .releaseArrivals, observation: .resumed)))
        #expect(!control.isPaused)
    }

    @Test func `when all captures are made there is nothing to pause`() {
        var control = Self.running()
        #expect(Self.refusal(.pause, of: &control, at: 20) == nil)
        control = Self.running()
        #expect(Self.refusal(.pause, of: &control, at: 21)?.hasPrefix("no arrivals are left") == true)
        // The captures of a closed group have no end that is known.
        control = Self.control(lastArrival: nil)
        control.began()
        #expect(Self.refusal(.pause, of: &control, at: 21) == nil)
    }

    // MARK: The course of a run

    @Test func `a run is stopped once, also before it begins`() {
        for begins in [true, false] {
            var control = Self.control()
            if begins { control.began() }
            #expect(
                Self.order(.stop, of: &control)
                    == .success(ControlDecision(effect: .stop, observation: .stopped)))
            #expect(Self.refusal(.stop, of: &control) == "the run is already ending")
            // What comes late does not bring it back.
            control.began()
            #expect(!control.isRunning)
            #expect(Self.refusal(.pause, of: &control) == "the run is already ending")
        }
    }

    @Test func `before it begins a run can only be stopped`() {
        var control = Self.control()
        for order: ControlOrder in [
            .pause, .resume, .phones(by: -1, group: "readers"), .fault("offline-1"),
            .offline(for: .seconds(1)),
        ] {
            #expect(Self.refusal(order, of: &control) == "the run has not begun")
        }
    }

    @Test func `the page is closed when the run is over and its page is served`() {
        var control = Self.running()
        let early = "the page can be closed when the run is over"
        #expect(Self.refusal(.close, of: &control) == early)
        control.ends()
        #expect(Self.refusal(.close, of: &control) == early)
        control.ended(isServed: true)
        #expect(
            Self.order(.close, of: &control)
                == .success(ControlDecision(effect: .close, observation: nil)))
        #expect(Self.refusal(.stop, of: &control) == "the run is over")
        control.ended(isServed: false)
        #expect(Self.refusal(.close, of: &control) == early)
    }

    // MARK: Phones

    @Test func `fewer phones are the last of their group, more are the next`() {
        var control = Self.running()
        #expect(
            Self.order(.phones(by: -5, group: "commuters"), of: &control)
                == .success(
                    ControlDecision(
                        effect: .rest(group: 0, phones: 7..<12),
                        observation: .phones(group: "commuters", active: 7, phones: 12))))
        #expect(
            Self.order(.phones(by: 2, group: "commuters"), of: &control)
                == .success(
                    ControlDecision(
                        effect: .wake(group: 0, phones: 7..<9),
                        observation: .phones(group: "commuters", active: 9, phones: 12))))
        #expect(control.groups.map(\.active) == [9, 3])
    }

    @Test(arguments: [
        (1, "readers", "a run cannot have more phones than it was started with (--phones)"),
        (Int.max, "readers", "--phones"), (-4, "readers", "only 3 phones of readers are active"),
        (Int.min, "readers", "only 3 phones"), (0, "readers", "must not be 0"),
        (-1, "nobody", "there is no group 'nobody', only 'commuters', 'readers'"),
        (-1, nil, "name one of the groups 'commuters', 'readers'"),
    ]) func `what the fleet does not have is refused with the reason`(by: Int, group: String?, text: String) {
        var control = Self.running()
        let refusal = Self.refusal(.phones(by: by, group: group), of: &control) ?? ""
        #expect(refusal.contains(text), "\(refusal)")
        #expect(control.groups.map(\.active) == [12, 3], "nothing has changed")
    }

    @Test func `one group need not be named, and all of its phones may rest`() {
        var control = RunControl(groups: [.init(name: "all", phones: 2)], faults: [], lastArrival: nil)
        control.began()
        #expect(Self.refusal(.phones(by: -2, group: nil), of: &control) == nil)
        #expect(control.groups[0].active == 0)
    }

    // MARK: Faults

    @Test func `a fault of the phones starts, and one of the server does not`() {
        var control = Self.running()
        #expect(
            Self.order(.fault("offline-1"), of: &control)
                == .success(ControlDecision(effect: .fault(1), observation: .fault(1))))
        let server = Self.refusal(.fault("reset-1"), of: &control) ?? ""
        #expect(server.contains("acts in the server") && server.hasSuffix("can be started: 'offline-1'"))
        let unknown = Self.refusal(.fault("x"), of: &control) ?? ""
        #expect(unknown.hasPrefix("the scenario has no fault 'x'"))
        let time = Interval.seconds(5)
        #expect(
            Self.order(.offline(for: time), of: &control)
                == .success(
                    ControlDecision(effect: .offline(for: time), observation: .offline(for: time))))
    }
}
