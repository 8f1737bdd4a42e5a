import Faults
import Metrics
import Phone
import Plan

extension ScenarioSchema {
    /// The groups, each with this schema.
    static func fleet(_ group: JSONSchema) -> JSONSchema {
        JSONSchema(
            description: "groups of phones, by name", form: "a map", types: ["object"],
            keyPattern: "^(?!all$)\(JSONSchema.namePattern)$", others: [group])
    }

    /// A group of a scenario that inherits nothing.
    static var completeGroup: JSONSchema {
        var group = JSONSchema.map(Self.group, required: ["phones"])
            .with(defaults: ScenarioPage.groupDefaults)
        group.description = "a group needs `phones`, and either `arrivals` or `think`"
        group.condition = JSONSchema.Condition(
            JSONSchema(required: ["think"]),
            then: JSONSchema(properties: ["arrivals": .never, "spacing": .never]),
            otherwise: JSONSchema(properties: ["start": .never], required: ["arrivals"]))
        return group
    }

    static var group: [String: JSONSchema] {
        let toggles = ProfileToggle.all.map { toggle in
            (toggle.key, JSONSchema.toggle.described("\(toggle.title) (\(toggle.source))"))
        }
        return FleetReader.valueKeys.schemas.merging(toggles) { value, _ in value }
    }

    // MARK: Values of several forms

    static var arrivals: JSONSchema {
        var arrivals = JSONSchema.rate
        arrivals.form = "a rate such as `6/s`, a list, or steps"
        arrivals.types = ["string", "array", "object"]
        (arrivals.minItems, arrivals.maxItems) = (1, ScenarioLimit.stagesMax)
        arrivals.items = [Self.stage]
        arrivals.properties = [
            "steps": Self.steps,
            "stop": JSONSchema.choice([LoadReader.stops]).described("what ends the steps"),
            "refine": JSONSchema.integer(0...RateSteps.refineMax)
                .described("steps between the last rate that held and the first that did not"),
        ]
        arrivals.required = ["steps"]
        return arrivals
    }

    private static var steps: JSONSchema {
        .map(
            [
                "from": JSONSchema.rate.described("rate of the first step"),
                "by": JSONSchema.rate.described("what each step adds"),
                "to": JSONSchema.rate.described("rate of the last step"),
                "every": JSONSchema.duration.described(
                    "length of a step; at least 3 times p95 of scan.time, or it is made longer"),
            ], required: ["from", "by", "to", "every"])
    }

    private static var stage: JSONSchema {
        let rate = JSONSchema.ratePattern
        func only(_ keys: [String]) -> JSONSchema {
            .map(Dictionary(uniqueKeysWithValues: keys.map { ($0, JSONSchema()) }), required: keys)
        }
        return JSONSchema(
            types: ["object"],
            properties: [
                "rate": JSONSchema.rate.described("constant rate of a stage"),
                "for": JSONSchema.duration.described("length of a stage with a constant rate"),
                "ramp": JSONSchema.text("\(rate)\\.\\.\(rate)", "two rates", examples: ["5/s..50/s"])
                    .described("the rates at the beginning and the end of a stage"),
                "over": JSONSchema.duration.described("length of a ramp"),
            ],
            condition: JSONSchema.Condition(
                JSONSchema(required: ["ramp"]), then: only(["ramp", "over"]),
                otherwise: only(["rate", "for"])
            ))
    }

    static var network: JSONSchema {
        var network = JSONSchema.choice(
            .choice(LinkPreset.all.map(\.name)), orTypes: ["object", "array"], "a preset, a map or a list")
        network.properties = NetworkReader.link.schemas
        network.isClosed = true
        (network.minItems, network.maxItems) = (1, Itinerary.stepsMax)
        var named = JSONSchema.choice(
            .choice(LinkPreset.all.map(\.name) + [NetworkReader.tunnel]), orTypes: ["object"],
            "a preset or a map")
        named.properties = NetworkReader.link.schemas
        named.isClosed = true
        network.items = [
            .map(
                [
                    "at": JSONSchema.duration.described("when the step begins; the first one at 0s"),
                    "link": named.described("a link preset by name, a link, or `none` for no network"),
                    "for": JSONSchema.duration.described(
                        "how long the step lasts; then the link of the step before returns"),
                ], required: ["at", "link"])
        ]
        return network
    }

    static var photos: JSONSchema {
        let path = "[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*"
        var photos = JSONSchema.text(
            path, "text, a list or a map", examples: ["shelves"], types: ["string", "number", "boolean"])
        photos.types? += ["array", "object"]
        photos.items = [.text(path, "text", examples: ["shelves"], types: ["string", "number", "boolean"])]
        (photos.minItems, photos.maxItems) = (1, ScenarioLimit.photoPlacesMax)
        photos.properties = [
            "paint": JSONSchema.integer(1...ScenarioLimit.photosPaintedMax)
                .described("number of synthetic photos"),
            "size": JSONSchema.text("[0-9]+x[0-9]+", "text such as `4032x3024`", examples: ["4032x3024"])
                .described(
                    "size of each photo in pixels (default: half the width and height of phone photos)"),
        ]
        photos.required = ["paint"]
        photos.isClosed = true
        return photos
    }
}
