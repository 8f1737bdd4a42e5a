import Backend
import Plan

extension ScenarioSchema {
    static var server: [String: JSONSchema] {
        [
            "dialect": Self.dialect.described(
                "form of what the backend sends; sets the defaults of the other keys"),
            "books": .integers(0...ScenarioLimit.booksMax).described(
                "books that the backend finds in a photo"),
            "job-time": .durations.described("time from the 202 to the end of the job, drawn for each scan"),
            "ping": .duration.described("time from ping to ping of a stream"),
            "ping-ids": .toggle.described("whether pings have an id"),
            "token-lifetime": .duration.described("time from the 202 until the token of the job has expired"),
            "event-buffer": .duration.described("time for which an event can be sent again after a resume"),
            "replay-ids": .choice(["kept", "fresh"]).described(
                "whether an event that is sent again keeps its id or has a new one"),
            "line-ends": JSONSchema.choice(BackendConfiguration.LineEnds.allCases.map(\.rawValue))
                .described("line ending of event streams; mixed: one of the three for each stream"),
            "rate-limit": JSONSchema.quotaOrOff.described(
                "uploads of a device per time; more are answered with 429"),
            "results-lifetime": .duration.described(
                "time from the completed event until the job has expired"),
            "completed-size-max": .size.described(
                "size of a completed event beyond which it loses its books"),
            "strict-device": JSONSchema.toggle.described(
                "a token is valid only with the device id of its upload"),
            "strict-accept": .toggle.described(
                "a stream must be requested with `Accept: text/event-stream`, or is answered with 400"),
            "repeated-cleanup": .choice(
                BackendConfiguration.RepeatedCleanup.allCases.map { String($0.rawValue) }
            ).described(
                "status of the answer to a DELETE of a job that is gone"),
            "links": .text(
                #"relative|absolute|https?://[!#-\[\]-~]*[!#-.0-\[\]-~]"#, "text",
                examples: ["relative", "absolute", "https://api.example"]
            ).described("form of the links in answers: relative, absolute, or a base URL"),
            "retry": JSONSchema.durationOrOff.described(
                "the `retry:` field of streams, which raises the backoff of a client"),
            "stream-linger": JSONSchema.duration.described(
                "how long the connection of a stream stays open after its terminal event"),
            "photos-max": .integer(1...ServerReader.countMax).described(
                "maximum number of photos of an upload"),
            "photo-size-max": .size.described("maximum size of a photo"),
            "batch-size-max": .size.described("maximum size of all photos of an upload"),
            "jobs-max": .integer(1...ServerReader.countMax).described(
                "jobs that live at once; more uploads are answered with 503"),
            "tombstones-max": .integer(1...ServerReader.countMax).described(
                "jobs that are remembered as gone (410); one that is forgotten is answered with 404"),
            "v2": JSONSchema.map(Self.v2).described("how v2 is served where its documents disagree"),
            "circuit-breaker": Self.circuitBreaker.described(
                "refuses uploads of v2 for a while after failures of a provider (default: off)"),
        ]
    }

    static var trial: [String: JSONSchema] {
        [
            "judge": .toggle.described("whether a target is held to the contract"),
            "dialect": .choice(TrialSettings.Dialect.allCases.map(\.rawValue)).described(
                "the version of the backend that the target is"),
            "lenient": JSONSchema.list(of: .choice(TrialReader.ruleNames), max: TrialReader.ruleNames.count)
                .described("rules whose violations are findings"),
            "buffer": .duration.described("time for which the target can send an event again"),
            "token-lifetime": .duration.described("time for which a token is good"),
            "settle": .duration.described(
                "time after a DELETE or the end of a job until the target must know of it"),
            "job-max": JSONSchema.durationOrOff.described(
                "longest time from the 202 to the terminal event (default: off)"),
            "limit": JSONSchema.quotaOrOff.described(
                "uploads that the target allows a device per time (default: off)"),
            "witness": JSONSchema.shareOrAuto.described(
                "share of jobs of which a second stream is opened, at least 20 jobs; auto: 5% of a target on this machine"
            ),
            "probes": .choice(["on", "off", TrialReader.byTarget]).described(
                "whether the target is asked what a second device would ask; auto: if it is on this machine"),
        ]
    }

    static var v2: [String: JSONSchema] {
        [
            "results-lifetime": .duration.described(
                "time from the completed event until the results are gone (default: that of v3)"),
            "stream-auth": .choice(V2Rules.StreamToken.allCases.map(\.rawValue)).described(
                "where a stream has its token: in the header, in the query, or in either"),
            "event-names": .choice(V2Rules.EventNames.allCases.map(\.rawValue)).described(
                "names and data of events; dotted: those that books-v3 expects"),
            "progress": .choice(V2Rules.Progress.allCases.map(\.rawValue)).described(
                "whether a stream is told of each change of its job, or looks for the last one"),
            "envelope": .choice(V2Rules.Envelope.allCases.map(\.rawValue)).described(
                "whether answers have `success`"),
            "tokens": .choice(V2Rules.TokenNames.allCases.map(\.rawValue)).described(
                "the names of the token in the answer to an upload"),
        ]
    }

    static var breaker: [String: JSONSchema] {
        [
            "failures": .integer(1...V2Reader.countMax).described(
                "jobs in a row that a provider has failed, which open the circuit (default: 5)"),
            "successes": .integer(1...V2Reader.countMax).described(
                "jobs that complete after the cooldown, which close it (default: 2)"),
            "cooldown": .duration.described("time for which uploads are refused (default: 60s)"),
        ]
    }

    private static var dialect: JSONSchema {
        let words = BackendConfiguration.presets.map(\.dialect.name)
        var dialect = JSONSchema.choice(
            .choice(words), orTypes: ["object"], JSONSchema.list(words.map { "`\($0)`" } + ["a map"]))
        dialect.properties = [
            CaptureReader.replay: JSONSchema.anyText.described(
                "path of a captured event stream, relative to the scenario; its events are those of every job"
            ),
            CaptureReader.stream: JSONSchema.anyText.described("the text of the captured stream"),
        ]
        dialect.isClosed = true
        return dialect
    }

    private static var circuitBreaker: JSONSchema {
        var breaker = JSONSchema.choice(
            .toggle, orTypes: ["boolean", "object"], "`on`, `off` or a map")
        breaker.properties = Self.breaker
        breaker.isClosed = true
        return breaker
    }
}
