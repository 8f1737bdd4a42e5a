// swift-tools-version: 6.3
import Foundation
import PackageDescription

// The targets, by layer. A target lies in Sources/<layer>/<name> and its tests in Tests/<layer>/<name>Tests. It may import
// what its row names and nothing else: `make test` checks that (explicit dependency check, TidyTests).

enum Layer: String {
    /// Values and formats: no clock, no randomness, no I/O.
    case core = "Core"
    /// Pure state machines: an event comes in, effects go out.
    case machines = "Machines"
    /// Pure: from observations to a verdict.
    case judging = "Judging"
    /// What runs the machines: the virtual world, and the live one with its event loops.
    case worlds = "Worlds"
    /// Files that are read and written.
    case files = "Files"
    /// What people read.
    case reports = "Reports"
    /// What puts a run together from all of these.
    case runs = "Runs"

    /// Pure layers decide: they have no way to time, tasks or clocks.
    var isPure: Bool {
        switch self {
        case .core, .machines, .judging: true
        case .worlds, .files, .reports, .runs: false
        }
    }
}

struct Module {
    let name: String
    let layer: Layer
    let imports: [String]
    /// What its tests import beside itself and its imports.
    let testImports: [String]

    init(_ name: String, _ layer: Layer, _ imports: [String], tests testImports: [String] = []) {
        self.name = name
        self.layer = layer
        self.imports = imports
        self.testImports = testImports
    }
}

let modules = [
    Module("SimBase", .core, []),
    Module("Metrics", .core, ["SimBase", "Talaria"]),
    Module("JSON", .core, ["SimBase"]),
    Module("Wire", .core, ["SimBase"]),
    // Files of libraries.
    Module("CSV", .core, ["SimBase"]),
    Module("Talaria", .core, ["SimBase", "JSON", "CSV"]),
    Module("Observations", .core, ["SimBase", "Talaria"]),
    Module("Faults", .core, ["SimBase", "JSON", "Talaria", "Observations"]),
    Module("OriginServer", .core, ["SimBase", "JSON", "Wire", "Talaria", "Observations", "Faults"]),
    // Holds a foreign backend to the contract.
    Module(
        "TargetTrial", .core, ["SimBase", "JSON", "Wire", "CSV", "Talaria", "Observations", "OriginServer"]),
    // Holds the clients of a server to the contract.
    Module("ClientTrial", .core, ["SimBase", "JSON", "Wire", "Talaria", "OriginServer"]),

    Module(
        "Phone", .machines, ["SimBase", "Wire", "Talaria", "Observations", "Faults"], tests: ["JSON", "Plan"]),
    Module(
        "Backend", .machines,
        ["SimBase", "JSON", "Wire", "CSV", "Talaria", "Observations", "Faults", "OriginServer"]),
    Module(
        "Gateway", .machines,
        ["SimBase", "JSON", "Wire", "Talaria", "Observations", "Faults", "OriginServer", "TargetTrial"],
        tests: ["Backend"]),
    // The worker's side of the protocol between a Locust master and its workers.
    Module("LocustWorker", .machines, ["SimBase", "Metrics"]),
    // What steers a run: its operator, and a rollout.
    Module("RunControl", .machines, ["SimBase", "Metrics", "Talaria", "Observations"]),
    Module(
        "HTTPServer", .machines,
        [
            "SimBase", "Metrics", "JSON", "Wire", "Talaria", "Observations", "Faults", "OriginServer",
            "ClientTrial", "Backend", "Gateway",
        ]),

    Module(
        "Ledger", .judging, ["SimBase", "Metrics", "CSV", "Talaria", "Observations"],
        tests: [
            "Histories", "RunJudge", "RunMetrics", "Phone", "Backend", "OriginServer", "Faults", "Plan",
            "ScenarioFile", "VirtualWorld",
        ]),
    Module(
        "RunMetrics", .judging, ["SimBase", "Metrics", "Talaria", "Observations", "Faults"],
        tests: ["Histories", "Ledger"]),
    Module(
        "RunJudge", .judging,
        ["SimBase", "Metrics", "Talaria", "Observations", "Faults", "Ledger", "RunMetrics"],
        tests: ["Histories", "Plan", "ScenarioFile", "VirtualWorld"]),

    // The spans of a run in OpenTelemetry's protocol.
    Module("Tracing", .judging, ["SimBase", "Metrics", "JSON", "Talaria", "Observations"]),

    Module(
        "Plan", .worlds,
        [
            "SimBase", "Metrics", "Wire", "CSV", "Talaria", "Faults", "Phone", "Backend", "RunControl",
            "TargetTrial",
        ]),
    Module(
        "VirtualWorld", .worlds,
        [
            "SimBase", "Metrics", "Wire", "Talaria", "Observations", "Faults", "Phone", "Backend",
            "RunControl", "HTTPServer", "Ledger", "RunJudge", "Plan",
        ]),
    // What the judge of a run must know of its plan.
    Module(
        "RunSetup", .worlds,
        [
            "SimBase", "Metrics", "Wire", "Talaria", "Faults", "OriginServer", "TargetTrial",
            "ClientTrial", "Observations", "Phone", "Backend", "RunControl", "Ledger", "RunMetrics",
            "RunJudge", "Plan", "VirtualWorld",
        ],
        tests: ["ScenarioFile"]),
    Module(
        "Search", .worlds,
        [
            "SimBase", "Metrics", "Talaria", "Observations", "Faults", "Phone", "Backend", "Ledger",
            "RunJudge", "Plan", "VirtualWorld", "RunSetup",
        ],
        tests: ["ScenarioFile"]),
    Module("EventLoop", .worlds, ["SimBase", "SystemIO", "CEvent", "CSystem"]),
    Module(
        "CurlLoop", .worlds, ["SimBase", "Wire", "SystemIO", "EventLoop", "CSystem", "CCurl"],
        tests: ["TestServer"]),
    // An HTTP/1.1 client of the program's own, and libcurl for what that does not do.
    Module(
        "HTTPClient", .worlds, ["SimBase", "Wire", "SystemIO", "EventLoop", "CurlLoop", "TLS"],
        tests: ["TestServer"]),
    // The messages of a Locust master as bytes, on ZeroMQ.
    Module(
        "LocustConnection", .worlds,
        ["SimBase", "LocustWorker", "SystemIO", "EventLoop", "CMsgPack", "CZeroMQ"]),
    // TLS without a socket: bytes in, bytes out.
    Module("TLS", .worlds, ["SimBase", "COpenSSL"], tests: ["TLSClient"]),
    Module(
        "LivePhones", .worlds,
        [
            "SimBase", "Metrics", "JSON", "Wire", "Talaria", "Observations", "Faults", "Phone", "TargetTrial",
            "Plan", "SystemIO", "EventLoop", "CurlLoop", "HTTPClient", "Imaging",
        ],
        tests: ["LiveServer", "Backend", "OriginServer", "HTTPServer", "Ledger"]),
    Module(
        "LiveServer", .worlds,
        [
            "SimBase", "Wire", "Talaria", "Observations", "Faults", "OriginServer", "ClientTrial", "Backend",
            "Gateway", "HTTPServer", "SystemIO", "EventLoop", "CurlLoop", "HTTPClient", "TLS",
        ],
        tests: ["JSON", "TLSClient"]),

    // System calls on descriptors, files and folders.
    Module("SystemIO", .files, ["CSystem"]),
    Module(
        "ScenarioFile", .files,
        [
            "SimBase", "Metrics", "JSON", "CSV", "Talaria", "Faults", "OriginServer", "TargetTrial",
            "Phone", "Backend", "RunControl", "Ledger", "RunJudge", "Plan", "BuiltIn", "CYAML",
        ],
        tests: ["Observations"]),
    Module("Imaging", .files, ["SimBase", "SystemIO", "CTurboJPEG"]),
    // The pages of the manual, which `help` shows.
    Module("Manual", .files, ["CManual"]),
    // The shipped scenarios, with what they name.
    Module("BuiltIn", .files, ["CBuiltIn"]),

    Module(
        "RunArchive", .files,
        [
            "SimBase", "Metrics", "JSON", "Talaria", "Observations", "Ledger", "RunMetrics", "RunJudge",
            "Plan", "SystemIO", "CZlib", "COpenSSL",
        ],
        tests: ["Reports", "ReportSamples"]),

    Module(
        "Reports", .reports,
        [
            "SimBase", "Metrics", "JSON", "Talaria", "Observations", "Ledger", "RunMetrics", "RunJudge",
            "Tracing", "RunArchive",
        ],
        tests: ["ReportSamples"]),
    Module(
        "RunComparison", .reports,
        [
            "SimBase", "Metrics", "JSON", "Talaria", "Observations", "Ledger", "RunMetrics", "RunJudge",
            "RunArchive", "Reports",
        ],
        tests: ["ReportSamples", "ScenarioFile"]),
    Module(
        "Dashboard", .reports,
        [
            "SimBase", "Metrics", "JSON", "Wire", "Talaria", "RunControl", "Ledger", "RunMetrics", "RunJudge",
            "SystemIO", "EventLoop",
            "RunArchive", "Reports",
        ],
        tests: ["ReportSamples"]),

    Module(
        "RunDriver", .runs,
        [
            "SimBase", "Metrics", "Wire", "Talaria", "Observations", "Faults", "Phone", "RunControl",
            "HTTPServer", "Ledger", "RunMetrics", "RunJudge", "Tracing", "Plan", "VirtualWorld", "RunSetup",
            "Search", "SystemIO", "EventLoop", "CurlLoop", "HTTPClient", "LivePhones", "LiveServer",
            "BuiltIn", "ScenarioFile",
            "Imaging",
            "RunArchive",
            "Reports", "Dashboard",
        ],
        tests: ["ReportSamples"]),
    Module(
        "Campaigns", .runs,
        [
            "SimBase", "Talaria", "Observations", "Faults", "Phone", "Ledger", "RunJudge", "Plan",
            "VirtualWorld", "Search", "SystemIO", "EventLoop", "ScenarioFile", "RunArchive", "Reports",
            "RunDriver", "JSON",
        ]),
    Module(
        "LocustRuns", .runs,
        [
            "SimBase", "LocustWorker", "RunJudge", "Plan", "SystemIO", "EventLoop", "LocustConnection",
            "ScenarioFile", "RunArchive", "RunDriver",
        ]),
]

/// Modules of `Worlds` that are pure like the machines that they run.
let pureWorlds: Set = ["Plan", "VirtualWorld", "RunSetup", "Search"]

/// Modules in which a simulation spends little of its time. They are not optimized for the tests.
let seldomRun: Set = [
    "ClientTrial", "TargetTrial", "LocustWorker", "LocustConnection", "LocustRuns", "Tracing", "RunSetup",
    "ScenarioFile", "RunArchive", "Reports", "RunComparison", "Dashboard", "RunDriver", "Campaigns", "Search",
    "Gateway", "HTTPClient", "LivePhones", "LiveServer",
]

/// Set by the Makefile for the build of the tests: the sources are testable, and have all checks of a debug build (of indexes
/// into borrowed memory, for example) without its debug information, which is a tenth of their build. `make try` has it.
let isForTests = Context.environment["SWIFTWING_SIM_FOR_TESTS"] != nil

// `-gnone` alone has no effect: SwiftPM puts its own `-g` after these flags.
let withoutDebugInformation = ["-Xfrontend", "-gnone"]

let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    + (isForTests
        ? [.unsafeFlags(["-enable-testing", "-assert-config", "Debug"] + withoutDebugInformation)] : [])

// Without the concurrency module, a `Task` or a `ContinuousClock` does not compile.
let withoutConcurrency: SwiftSetting = .unsafeFlags([
    "-Xfrontend", "-disable-implicit-concurrency-module-import",
])

// For the tests, their helpers, and modules that are seldom run: the optimizer would be most of their build. A second pass for
// the interface of a module would expand the macros of a test once more. The macros name the lines that fail.
let unoptimized: SwiftSetting = .unsafeFlags(
    ["-Onone", "-no-emit-module-separately-wmo"] + withoutDebugInformation, .when(configuration: .release))

// Swift Testing's macros expand to code that strict memory safety would flag.
let strictForTests: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    unoptimized,
]

func dependencies(_ names: [String]) -> [Target.Dependency] { names.map { .init(stringLiteral: $0) } }

func library(_ name: String, pkgConfig: String?, apt: String, brew: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig,
        providers: [.apt([apt]), .brew([brew])])
}

// Debian's file has flags of libraries behind libzmq that SwiftPM refuses. Its own header needs none.
#if os(macOS)
    let zeroMQ: String? = "libzmq"
#else
    let zeroMQ: String? = nil
#endif

// The name of the library and of its pkg-config file: another one since version 6 (Debian 13, Homebrew). SwiftPM asks again
// when this file or the environment changes, or after `swift package purge-cache`.
let messagePack = isKnown("msgpack") ? "msgpack" : "msgpack-c"

func isKnown(_ library: String) -> Bool {
    let pkgConfig = Process()
    pkgConfig.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    pkgConfig.arguments = ["pkg-config", "--exists", library]
    guard (try? pkgConfig.run()) != nil else { return false }
    pkgConfig.waitUntilExit()
    return pkgConfig.terminationStatus == 0
}

func target(_ module: Module) -> Target {
    let isPure = module.layer.isPure || pureWorlds.contains(module.name)
    let isUnoptimized = isForTests && seldomRun.contains(module.name)
    return .target(
        name: module.name, dependencies: dependencies(module.imports),
        path: "Sources/\(module.layer.rawValue)/\(module.name)",
        swiftSettings: strict + (isPure ? [withoutConcurrency] : [])
            + (isUnoptimized ? [unoptimized] : []))
}

func tests(_ module: Module) -> Target {
    .testTarget(
        name: "\(module.name)Tests",
        dependencies: dependencies([module.name, "SimTestSupport"] + module.imports + module.testImports),
        path: "Tests/\(module.layer.rawValue)/\(module.name)Tests", swiftSettings: strictForTests)
}

let package = Package(
    name: "swiftwing-sim",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "swiftwing-sim", targets: ["swiftwing-sim"])
    ],
    targets: [
        library("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
        library("CEvent", pkgConfig: "libevent_core", apt: "libevent-dev", brew: "libevent"),
        library("CMsgPack", pkgConfig: messagePack, apt: "libmsgpack-dev", brew: "msgpack"),
        library("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
        library("CTurboJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev", brew: "jpeg-turbo"),
        library("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev", brew: "libyaml"),
        library("CZeroMQ", pkgConfig: zeroMQ, apt: "libzmq3-dev", brew: "zeromq"),
        library("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),
        // System calls in one form for Linux and macOS.
        .target(name: "CSystem", path: "Sources/System/CSystem"),
        // The pages of Docs/manual as bytes.
        .target(name: "CManual", path: "Sources/System/CManual"),
        // The shipped scenarios as bytes, with the captured streams and photos that they name, and the commit (Makefile).
        .target(
            name: "CBuiltIn", path: "Sources/System/CBuiltIn",
            cSettings: [
                .define("SHIM_COMMIT", to: "\"\(Context.environment["SWIFTWING_SIM_COMMIT"] ?? "")\"")
            ]),
    ]
        + modules.map(target)
        + [
            .executableTarget(
                name: "swiftwing-sim", dependencies: dependencies(modules.map(\.name)), swiftSettings: strict)
        ]
        + [
            .target(
                name: "SimTestSupport", dependencies: ["SimBase", "JSON", "Talaria"],
                path: "Tests/SimTestSupport",
                swiftSettings: strict + [unoptimized]),
            // Scripted observations for the tests of what judges them.
            .target(
                name: "Histories", dependencies: ["SimBase", "Talaria", "Observations", "Ledger"],
                path: "Tests/Judging/Histories", swiftSettings: strict + [unoptimized]),
            // OpenSSL's client, for the tests of the server's side of TLS.
            .target(
                name: "TLSClient", dependencies: ["COpenSSL"], path: "Tests/Worlds/TLSClient",
                swiftSettings: strictForTests),
            // A server of raw sockets, for the tests of clients.
            .target(
                name: "TestServer", dependencies: ["SimBase", "SystemIO", "EventLoop", "CurlLoop", "TLS"],
                path: "Tests/Worlds/TestServer", swiftSettings: strictForTests),
            // Runs for the tests of what reads and shows them.
            .target(
                name: "ReportSamples",
                dependencies: dependencies([
                    "SimBase", "Metrics", "Talaria", "Ledger", "RunJudge", "RunArchive",
                ]),
                path: "Tests/Reports/ReportSamples", swiftSettings: strict + [unoptimized]),
        ]
        + modules.map(tests)
        + [
            // What the tests read stays where it lies.
            .testTarget(
                name: "EndToEndTests", dependencies: ["swiftwing-sim", "SimBase", "CSV", "Wire"],
                exclude: ["Fixtures", "Goldens", "Tools"], swiftSettings: strictForTests),
            .testTarget(name: "TidyTests", swiftSettings: strictForTests),
        ]
)

// `make try MODULE=Phone`: the package is the tests of this module and what they need, and nothing else is built.
if let module = Context.environment["SWIFTWING_SIM_MODULE"] {
    var needed: Set<String> = []
    var open = ["\(module)Tests"]
    while let name = open.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name })
        else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
    }
    package.products = []
    package.targets.removeAll { !needed.contains($0.name) }
}
