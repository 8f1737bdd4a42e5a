import Reports
import RunControl

/// The controls of the page. They are shown only to who has the token in the page's address.
enum ControlBar {
    /// The element that holds them.
    static let id = "control"

    private static let offlineSeconds = 5

    /// The controls of a run in progress; empty if it is ending.
    static func html(_ control: RunControl) -> HTML {
        guard control.isRunning else { return "" }
        return [Self.arrivals(control), Self.phones(control), Self.faults(control), Self.stop]
            .joined(separator: "\n")
    }

    /// The controls of a run that is over, whose page stays until it is closed.
    static let close: HTML = """
        <button type="button" data-control="close" data-key="close">Close the dashboard</button>
        """

    private static func arrivals(_ control: RunControl) -> HTML {
        control.isPaused
            ? "<button type=\"button\" data-control=\"resume\" data-key=\"arrivals\">Resume arrivals</button>"
            : "<button type=\"button\" data-control=\"pause\" data-key=\"arrivals\">Pause arrivals</button>"
    }

    private static func phones(_ control: RunControl) -> HTML {
        let groups = control.groups.map { group -> HTML in
            let name = HTML(group.name, bytesMax: 80)
            return "<option value=\"\(name)\">\(name): \(group.active) of \(group.phones)</option>"
        }
        return """
            <span class="set"><label>Phones <select name="group" data-key="group">\(groups.joined())</select></label>
            <input type="number" name="count" data-key="count" min="1" value="1" aria-label="number of phones">
            <button type="button" data-control="phones" data-sign="-" data-key="fewer">Fewer</button>
            <button type="button" data-control="phones" data-sign="" data-key="more">More</button></span>
            """
    }

    private static func faults(_ control: RunControl) -> HTML {
        let faults = control.faults.filter(\.isOfPhone).map { fault -> HTML in
            let id = HTML(fault.id, bytesMax: 80)
            return "<option value=\"\(id)\">\(id)</option>"
        }
        return """
            <span class="set"><label>Fault <select name="fault" data-key="fault">\
            <option value="" data-offline="\(Self.offlineSeconds)">all phones offline for \(Self.offlineSeconds) s</option>\
            \(faults.joined())</select></label>
            <button type="button" data-control="fault" data-key="start">Start now</button></span>
            """
    }

    private static let stop: HTML = """
        <button type="button" class="stop" data-control="stop" data-key="stop" \
        data-confirm="End this run now? Its report is written, and it ends with exit code 105.">Stop the run</button>
        """
}
