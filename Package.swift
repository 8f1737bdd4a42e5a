// swift-tools-version: 6.3
import PackageDescription

// The import table of the project is the `dependencies` below: a target may use only what is named in its row.
// `make test` holds the sources to it (explicit dependency check, purity build, TidyTests).

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func pure(_ name: String, _ dependencies: [String]) -> Target {
    .target(name: name, dependencies: dependencies.map { .init(stringLiteral: $0) }, swiftSettings: strict)
}

func effects(_ name: String, _ dependencies: [String]) -> Target {
    pure(name, dependencies)
}

func library(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func tests(_ name: String, _ dependencies: [String], data: [String] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: dependencies.map { .init(stringLiteral: $0) },
        // Read where it lies, by #filePath.
        exclude: data,
        // Swift Testing's macros expand to code that strict memory safety would flag.
        swiftSettings: [
            .swiftLanguageMode(.v6),
            .treatAllWarnings(as: .error),
            .enableUpcomingFeature("ExistentialAny"),
        ])
}

let pureTargets = [
    "SimBase", "Metrics", "Wire", "Talaria", "Faults", "Device", "Backend", "Serving", "Plan", "Handset",
    "Ledger", "VirtualWorld",
]

let package = Package(
    name: "swiftwing-sim",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "swiftwing-sim", targets: ["swiftwing-sim"])],
    targets: [
        library("CCurl", pkgConfig: "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
        library("CEvent", pkgConfig: "libevent_core", apt: "libevent-dev", brew: "libevent"),
        library("CTurboJPEG", pkgConfig: "libturbojpeg", apt: "libturbojpeg0-dev", brew: "jpeg-turbo"),
        library("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev", brew: "libyaml"),
        library("CZlib", pkgConfig: "zlib", apt: "zlib1g-dev", brew: "zlib"),

        // System calls in one form for Linux and macOS.
        .target(name: "CSystem"),

        pure("SimBase", []),
        pure("Metrics", ["SimBase"]),
        pure("Wire", ["SimBase"]),
        pure("Talaria", ["SimBase", "Wire"]),
        pure("Faults", ["SimBase", "Talaria"]),
        pure("Device", ["SimBase", "Talaria", "Wire"]),
        pure("Backend", ["SimBase", "Talaria", "Wire", "Faults"]),
        pure("Serving", ["SimBase", "Talaria", "Wire", "Faults", "Backend"]),
        pure("Plan", ["SimBase", "Talaria", "Device", "Backend", "Faults", "Metrics"]),
        pure("Handset", ["SimBase", "Talaria", "Device", "Faults", "Plan"]),
        pure("Ledger", ["SimBase", "Talaria", "Metrics"]),
        pure(
            "VirtualWorld",
            [
                "SimBase", "Metrics", "Wire", "Talaria", "Faults", "Device", "Backend", "Serving", "Plan",
                "Handset", "Ledger",
            ]),
        // Every pure target, for the purity build: see `make purity`.
        .target(
            name: "Pure", dependencies: pureTargets.map { .init(stringLiteral: $0) }, swiftSettings: strict),

        effects("EventLoop", ["SimBase", "CEvent", "CSystem"]),
        effects("CurlLoop", ["SimBase", "EventLoop", "CSystem", "CCurl"]),
        effects("Imaging", ["SimBase", "CTurboJPEG"]),
        effects(
            "LiveDevices",
            [
                "SimBase", "Metrics", "Wire", "Talaria", "Faults", "Device", "Plan", "Handset", "Ledger",
                "EventLoop", "CurlLoop", "Imaging",
            ]),
        effects(
            "LiveBackend",
            [
                "SimBase", "Metrics", "Wire", "Talaria", "Faults", "Backend", "Serving", "Plan", "Ledger",
                "EventLoop", "CurlLoop",
            ]),
        effects(
            "ScenarioFile",
            ["SimBase", "Talaria", "Device", "Backend", "Faults", "Metrics", "Plan", "Ledger", "CYAML"]),
        effects("Reporting", ["SimBase", "Metrics", "Talaria", "Faults", "Plan", "Ledger", "CZlib"]),
        effects("Dashboard", ["SimBase", "Metrics", "Wire", "Ledger", "Reporting", "EventLoop"]),
        .executableTarget(
            name: "swiftwing-sim",
            dependencies: [
                "SimBase", "Metrics", "Wire", "Talaria", "Faults", "Device", "Backend", "Serving", "Plan",
                "Handset", "Ledger", "VirtualWorld", "EventLoop", "CurlLoop", "Imaging", "LiveDevices",
                "LiveBackend", "ScenarioFile",
                "Reporting", "Dashboard",
            ],
            swiftSettings: strict),

        .target(
            name: "SimTestSupport", dependencies: ["SimBase"], path: "Tests/SimTestSupport",
            swiftSettings: strict),
        tests("SimBaseTests", ["SimBase", "SimTestSupport"]),
        tests("MetricsTests", ["Metrics", "SimBase", "SimTestSupport"]),
        tests("WireTests", ["Wire", "SimBase", "SimTestSupport"]),
        tests("TalariaTests", ["Talaria", "SimBase", "Wire", "SimTestSupport"]),
        tests("FaultsTests", ["Faults", "SimBase", "Talaria", "SimTestSupport"]),
        tests("DeviceTests", ["Device", "SimBase", "Talaria", "Wire", "SimTestSupport"]),
        tests("BackendTests", ["Backend", "SimBase", "Talaria", "Wire", "Faults", "SimTestSupport"]),
        tests(
            "ServingTests",
            ["Serving", "SimBase", "Talaria", "Wire", "Backend", "Faults", "SimTestSupport"]),
        tests(
            "HandsetTests", ["Handset", "SimBase", "Talaria", "Device", "Faults", "Plan", "SimTestSupport"]),
        tests("PlanTests", ["Plan", "SimBase", "Talaria", "Device", "Backend", "Faults", "Metrics"]),
        tests(
            "LedgerTests",
            [
                "Ledger", "SimBase", "Talaria", "Metrics", "Device", "Backend", "Faults", "Plan",
                "ScenarioFile", "VirtualWorld", "SimTestSupport",
            ]),
        tests(
            "VirtualWorldTests",
            [
                "VirtualWorld", "SimBase", "Metrics", "Talaria", "Device", "Backend", "Faults", "Serving",
                "Plan", "Handset", "Ledger",
            ]),
        tests("EventLoopTests", ["EventLoop", "SimBase", "CSystem"]),
        tests("CurlLoopTests", ["CurlLoop", "EventLoop", "SimBase", "CSystem"]),
        tests("ImagingTests", ["Imaging", "SimBase"]),
        tests(
            "LiveDevicesTests",
            [
                "LiveDevices", "LiveBackend", "SimBase", "Metrics", "Talaria", "Wire", "Device", "Backend",
                "Serving", "Faults", "Plan", "Ledger", "EventLoop", "CurlLoop", "Imaging", "SimTestSupport",
            ]),
        tests(
            "LiveBackendTests",
            [
                "LiveBackend", "SimBase", "Talaria", "Wire", "Backend", "Serving", "Faults", "EventLoop",
                "CurlLoop", "SimTestSupport",
            ]),
        tests(
            "ScenarioFileTests",
            [
                "ScenarioFile", "SimBase", "Plan", "Faults", "Device", "Backend", "Metrics", "Ledger",
                "SimTestSupport",
            ]),
        tests("ReportingTests", ["Reporting", "SimBase", "Metrics", "Talaria", "Plan", "Ledger"]),
        tests("DashboardTests", ["Dashboard", "SimBase", "Wire", "Reporting", "EventLoop"]),
        tests("EndToEndTests", ["swiftwing-sim"], data: ["Fixtures", "Goldens", "Tools"]),
        tests("TidyTests", []),
    ]
)
