import SimBase
import Talaria
import Testing

@testable import Ledger

/// Admissions against the quota: one too many and one too few.
@Suite struct HarnessQuotaTests {
    private static let quota = Quota(requests: 2, window: .seconds(10))

    private static func server(_ quota: Quota?) -> HarnessSettings.Server {
        var server = HarnessStory.server
        server.quota = quota
        return .simulated(server)
    }

    private static let fault = FaultEffect.limit(
        quota, retryAfter: nil, isRecounted: true, from: .zero, to: .distantFuture)

    /// An upload at this time, admitted, or limited with this wait; `by`: the fault that counts it.
    private struct Upload {
        var at: Interval
        var wait: Interval?
        var status = 202
    }

    private static func errors(
        _ uploads: [Upload], _ faults: [FaultEffect] = [], quota: Quota? = nil,
        isDecided: Bool = true, reinstalledBefore: Int? = nil
    ) -> [String] {
        let story = HarnessStory { story in
            for (index, upload) in uploads.enumerated() {
                if index == reinstalledBefore {
                    story.fault(.began(fault: faults.count))
                    story.phone(.reinstalled(discarded: 0))
                }
                story.scan = ScanNumber(UInt32(index + 1))
                story.pass(upload.at - (story.now - .zero) - .milliseconds(2))
                story.ask(.upload)
                if !faults.isEmpty {
                    story.fault(.decided(fault: 0, .upload, attempt: 1, fires: isDecided))
                }
                let status = upload.wait == nil ? upload.status : 429
                story.backend(.answered(.upload, attempt: 1, status: status))
                if let wait = upload.wait {
                    story.backend(
                        .problem(
                            .upload, attempt: 1, status: 429, job: nil, retryable: true, retryAfter: wait))
                }
                if upload.wait != nil, !faults.isEmpty {
                    story.fault(.fired(fault: 0, .upload, attempt: 1))
                }
            }
        }
        return story.errors(faults + [.ofPhone(.reinstall)], server: Self.server(quota))
    }

    private static let clean = [
        Upload(at: .seconds(1)), Upload(at: .seconds(5)), Upload(at: .seconds(7), wait: .seconds(4)),
        Upload(at: .seconds(11)), Upload(at: .seconds(14), wait: .seconds(1)), Upload(at: .seconds(15)),
    ]
    private static let tooMany = [
        Upload(at: .seconds(1)), Upload(at: .seconds(5)), Upload(at: .milliseconds(10_999)),
    ]
    private static let tooFew = [
        Upload(at: .seconds(1)), Upload(at: .seconds(11), wait: .seconds(4)),
    ]
    private static let wrongWait = [
        Upload(at: .seconds(1)), Upload(at: .seconds(5)), Upload(at: .seconds(7), wait: .seconds(3)),
    ]

    private static let texts = (
        many: "3 uploads were admitted in a window with a quota of 2",
        few: "an upload was limited after 0 of 2 admissions",
        wait: "a 429 requested a wait of 3000000000 ns, but 4000000000 ns were left"
    )

    @Test func `the backend's own quota is recounted`() {
        #expect(Self.errors(Self.clean, quota: Self.quota) == [])
        #expect(Self.errors(Self.tooMany, quota: Self.quota) == [Self.texts.many])
        #expect(Self.errors(Self.tooFew, quota: Self.quota) == [Self.texts.few])
        #expect(Self.errors(Self.wrongWait, quota: Self.quota) == [Self.texts.wait])
    }

    @Test func `a quota that phones share is counted for all of them`() {
        func errors(phones: Int?, devices: [UInt32], counts: Bool = true, isLimited: Bool = false) -> [String]
        {
            var server = HarnessStory.server
            server.hasOtherUploadLimits = true
            server.sharedQuotas = [.init(quota: Self.quota, phones: phones, groups: [counts])]
            let story = HarnessStory { story in
                for device in devices {
                    story.device = DeviceNumber(device)
                    story.ask(.upload)
                    story.backend(.answered(.upload, attempt: 1, status: isLimited ? 429 : 202))
                    guard isLimited else { continue }
                    story.backend(
                        .problem(
                            .upload, attempt: 1, status: 429, job: nil, retryable: true,
                            retryAfter: .seconds(3)))
                }
            }
            return story.errors([], server: .simulated(server), phones: 4)
        }
        let tooMany = "3 uploads were admitted in a window with a shared quota of 2"
        #expect(errors(phones: nil, devices: [0, 1, 3]) == [tooMany])
        #expect(errors(phones: 4, devices: [0, 1, 3]) == [tooMany])
        #expect(errors(phones: 2, devices: [0, 1, 3]) == [])
        #expect(errors(phones: nil, devices: [0, 1, 3], counts: false) == [])
        #expect(errors(phones: nil, devices: [0, 1]) == [])
        #expect(errors(phones: nil, devices: [0], isLimited: true) == [])
    }

    @Test func `so is that of a fault, from its decisions`() {
        #expect(Self.errors(Self.clean, [Self.fault]) == [])
        #expect(Self.errors(Self.tooMany, [Self.fault]) == [Self.texts.many])
        #expect(Self.errors(Self.tooMany, [Self.fault], isDecided: false) == [])
        #expect(Self.errors(Self.tooFew, [Self.fault]) == [Self.texts.few])
        #expect(Self.errors(Self.wrongWait, [Self.fault]) == [Self.texts.wait])
    }

    @Test func `a fault that says how long to wait says that`() {
        let told = FaultEffect.limit(
            Self.quota, retryAfter: .seconds(3), isRecounted: true, from: .zero, to: .distantFuture)
        #expect(Self.errors(Self.wrongWait, [told]) == [])
        #expect(Self.errors(Array(Self.clean.prefix(3)), [told]).count == 1)
    }

    @Test func `a fault that sleeps counts nothing`() {
        let early = FaultEffect.limit(
            Self.quota, retryAfter: nil, isRecounted: true, from: .zero, to: .zero + .seconds(6))
        #expect(Self.errors(Self.tooMany, [early]) == [])
    }

    @Test func `without a limit nothing is limited`() {
        let limited = [Upload(at: .seconds(1), wait: .seconds(3))]
        #expect(
            Self.errors(limited)
                == ["upload was answered with 429, but neither a fault nor anything else explains it"])
        let nobody = Quota(requests: 0, window: .seconds(3))
        #expect(Self.errors(limited, quota: nobody) == [])
        #expect(
            Self.errors([Upload(at: .seconds(1), status: 429)], quota: nobody)
                == ["an upload was answered with 429, but nothing limited it"])
    }

    @Test func `what may have been refused before it was counted is no certain admission`() {
        var uploads = Self.tooMany
        uploads[1].status = 400
        #expect(Self.errors(uploads, quota: Self.quota) == [])
        // But it may have been one.
        let limited = [
            Upload(at: .seconds(1)), Upload(at: .seconds(5), wait: nil, status: 400),
            Upload(at: .seconds(7), wait: .seconds(2)),
        ]
        #expect(Self.errors(limited, quota: Self.quota) == [])
    }

    @Test func `an app that is installed anew has another device id`() {
        #expect(Self.errors(Self.tooMany, quota: Self.quota, reinstalledBefore: 2) == [])
    }
}
