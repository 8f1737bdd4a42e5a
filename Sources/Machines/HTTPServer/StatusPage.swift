import Backend
import JSON
import OriginServer
import SimBase
import Talaria
import Wire

/// `/_sim`: what the server is doing, as a page that loads itself again, or as JSON.
enum StatusPage {
    static let path = "/_sim"
    /// As JSON, whatever the client accepts.
    static let jsonPath = Self.path + "/json"

    static func reply(_ status: ServerStatus, accept: String?, token: String?) -> OriginReply {
        let isPage = accept?.contains("text/html") ?? false
        return OriginReply(
            status: 200,
            headers: [
                HeaderField("Content-Type", isPage ? "text/html; charset=utf-8" : "application/json"),
                HeaderField("Cache-Control", "no-store"),
            ], body: isPage ? Array(Self.page(status, token).utf8) : JSON.encode(status))
    }

    // MARK: The page

    private static func page(_ status: ServerStatus, _ token: String?) -> String {
        """
        <!doctype html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
        <meta http-equiv="refresh" content="2"><title>swiftwing-sim: \(Self.escaped(status.serving))</title>
        <style>\(Self.style)</style></head><body><main>
        <h1>\(Self.escaped(status.serving))</h1>
        <dl><div><dt>up</dt><dd>\(Self.time(status.uptimeMs))</dd></div>
        <div><dt>connections</dt><dd>\(status.connections)</dd></div>
        <div><dt>streams open</dt><dd>\(status.streams)</dd></div>
        <div><dt>jobs</dt><dd>\(status.jobsAlive)</dd></div></dl>
        \(token.map { Self.buttons(status, $0) } ?? "")
        \(status.clients.map { Self.section($0) } ?? "")
        <h2>Faults</h2>
        \(status.faults.isEmpty ? "<p>none</p>" : Self.table(status.faults))
        <h2>Jobs</h2>
        \(status.jobs.isEmpty ? "<p>none, or all deleted</p>" : Self.table(status.jobs))
        \(status.jobsAlive > status.jobs.count ? "<p>the newest \(status.jobs.count) of them</p>" : "")
        </main></body></html>

        """
    }

    /// The faults on demand, for all callers.
    private static func buttons(_ status: ServerStatus, _ token: String) -> String {
        var deeds = [("Cut streams", "do=cut-streams")]
        if !status.isGateway { deeds.append(("Expire tokens", "do=expire-tokens")) }
        deeds += [
            ("429 to uploads for 20 s", "do=refuse&status=429&seconds=20&on=upload"),
            ("503 for 10 s", "do=refuse&status=503&seconds=10"),
        ]
        let forms = deeds.map { title, query in Self.button(title, query, token) }
        return "<div class=deeds>\(forms.joined())</div>\(Self.switches(status.faults, token))"
            + "<iframe name=done title=\"result\"></iframe>"
    }

    /// A switch for each fault of the list: those on demand, by what they are called, and those of the scenario.
    private static func switches(_ faults: [ServerStatus.Fault], _ token: String) -> String {
        let forms = faults.map { fault in
            let title = FaultsOnDemand.titles.first { $0.id == fault.id }?.title ?? fault.id
            let query = "do=switch&fault=\(fault.id)&to=\(fault.isOn ? "off" : "on")"
            return Self.button("\(title): \(fault.isOn ? "on" : "off")", query, token, isOn: fault.isOn)
        }
        return forms.isEmpty ? "" : "<div class=deeds>\(forms.joined())</div>"
    }

    private static func button(
        _ title: String, _ query: String, _ token: String, isOn: Bool? = nil
    ) -> String {
        let action = Self.escaped("\(ServerControl.path)?\(query)&token=\(token)")
        let pressed = isOn.map { " aria-pressed=\($0)" } ?? ""
        return "<form method=post target=done action=\"\(action)\">"
            + "<button\(pressed)>\(Self.escaped(title))</button></form>"
    }

    private static func table(_ faults: [ServerStatus.Fault]) -> String {
        let rows = faults.map { fault in
            let last = fault.lastFiredMsAgo.map { "\(Self.time($0)) ago" } ?? "–"
            let next = fault.next.map {
                "\($0.operation) of \($0.device)\($0.scan.map { ", scan \($0)" } ?? ""), \($0.trigger)"
            }
            return Self.row([
                fault.id, fault.kind, fault.on, fault.isOn ? "on" : "off", String(fault.fired), last,
                fault.window,
                next.isEmpty ? "–" : next.joined(separator: "; "),
            ])
        }
        return Self.table(["fault", "kind", "on", "", "fired", "last", "window", "next"], rows)
    }

    private static func table(_ jobs: [ServerStatus.Job]) -> String {
        let rows = jobs.map { job in
            Self.row([
                job.id, job.device, job.scan.map(String.init) ?? "–", job.state, Self.time(job.tokenAgeMs),
                job.tokenLeftMs.map { $0 == 0 ? "expired" : Self.time($0) } ?? "–",
                job.events.map(String.init) ?? "–", String(job.streams),
            ])
        }
        return Self.table(
            ["job", "device", "scan", "state", "token age", "expires in", "events", "streams"], rows)
    }

    static func table(_ heads: [String], _ rows: [String]) -> String {
        let head = heads.map { "<th scope=col>\($0)</th>" }.joined()
        return "<div class=scroll><table><thead><tr>\(head)</tr></thead>"
            + "<tbody>\(rows.joined(separator: "\n"))</tbody></table></div>"
    }

    static func row(_ cells: [String], isBad: Bool = false) -> String {
        "<tr\(isBad ? " class=bad" : "")>" + cells.map { "<td>\(Self.escaped($0))</td>" }.joined() + "</tr>"
    }

    private static func time(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000
        return switch seconds {
        case ..<10: "\(seconds).\(milliseconds % 1_000 / 100) s"
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min \(seconds % 60) s"
        default: "\(seconds / 3_600) h \(seconds / 60 % 60) min"
        }
    }

    /// Whatever a client calls itself stays text.
    static func escaped(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": safe += "&amp;"
            case "<": safe += "&lt;"
            case ">": safe += "&gt;"
            case "\"": safe += "&quot;"
            case "'": safe += "&#39;"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: safe += "\u{FFFD}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    private static let style = """
        :root{color-scheme:light dark;--line:light-dark(#d8dce2,#3a4048);--soft:light-dark(#5b6470,#9aa4b0)}
        body{margin:0;font:14px/1.5 system-ui,sans-serif;background:light-dark(#fff,#15181c);
        color:light-dark(#1a1d21,#e6e9ed)}
        main{max-width:76rem;margin:0 auto;padding:1.5rem}
        h1{font-size:1.4rem;margin:0 0 1rem}h1::first-letter{text-transform:uppercase}
        h2{font-size:1rem;margin:2rem 0 .5rem}
        dl{display:flex;flex-wrap:wrap;gap:.5rem 2.5rem;margin:0}dt{color:var(--soft)}
        dd{margin:0;font-size:1.3rem}
        .scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        th,td{text-align:left;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--line);
        vertical-align:top;white-space:nowrap}
        th{color:var(--soft);font-weight:500}td:last-child{white-space:normal}
        .deeds{display:flex;flex-wrap:wrap;gap:.5rem;margin:1rem 0 0}.bad td:nth-child(2){color:light-dark(#b3261e,#ff8a80);font-weight:600}
        .example{color:var(--soft);white-space:normal;overflow-wrap:anywhere}button[aria-pressed=true]{font-weight:600}iframe{border:0;height:2rem;width:22rem}p{color:var(--soft);margin:.5rem 0}
        """
}
