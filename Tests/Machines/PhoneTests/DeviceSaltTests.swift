import SimBase
import Testing

@testable import Phone

@Suite struct DeviceSaltTests {
    private static let random = KeyedRandom(seed: 7)
    private static let device = DeviceNumber(3)
    private static let salt = DeviceSalt(bits: 0x0123_4567_89AB_CDEF)

    @Test func `a salt changes every device id of a phone, and none is as in another run`() {
        let salts: [DeviceSalt?] = [nil, Self.salt, DeviceSalt(bits: 1), DeviceSalt(bits: 0)]
        let ids = salts.flatMap { salt in
            [0, 1].map {
                DeviceIdentity.draw(Self.random, Self.device, installation: $0, salt: salt).text
            }
                + [true, false].map {
                    DeviceIdentity.draw(Self.random, Self.device, ScanNumber(1), ofService: $0, salt: salt)
                        .text
                }
        }
        #expect(Set(ids).count == 16)
        #expect(ids.allSatisfy { DeviceIdentity(text: $0) != nil })
    }

    @Test func `one salt gives one seed the same ids again, and another seed others`() {
        func id(_ seed: UInt64) -> DeviceIdentity {
            .draw(KeyedRandom(seed: seed), Self.device, salt: Self.salt)
        }
        #expect(id(7) == id(7) && id(7) != id(8))
    }

    @Test func `an app that is installed again has another id of the same salt`() {
        var context = RunContext(random: Self.random, run: 9, clockZero: 0, wallClockAtZero: 0)
        context.deviceSalt = Self.salt
        var phone = Phone(
            number: Self.device, profile: .contract,
            identity: .draw(Self.random, Self.device, salt: Self.salt), installation: 0, lastScan: .none,
            remembers: true, context: context)
        var effects: [PhoneEffect] = []
        phone.handle(.switchedOn(restored: []), at: .zero, into: &effects)
        phone.handle(
            .disturbed(.begins(Bench().window(.reinstall, from: 0, to: 1))), at: .zero, into: &effects)
        #expect(
            phone.identity == .draw(Self.random, Self.device, installation: 1, salt: Self.salt))
    }

    @Test func `ids of single scans have the salt as well, also after the app was installed again`() {
        func ids(_ salt: DeviceSalt?) -> [String?] {
            var profile = ClientProfile.contract
            profile.identity.upload = .perScan
            var context = RunContext(random: Self.random, run: 9, clockZero: 0, wallClockAtZero: 0)
            context.deviceSalt = salt
            let phone = Phone(
                number: Self.device, profile: profile, identity: .draw(Self.random, Self.device),
                installation: 0,
                lastScan: .none, remembers: true, context: context)
            return [phone.app, phone.freshApp()].map { $0.identity(for: .upload, ScanNumber(1))?.text }
        }
        let salted = ids(Self.salt)
        #expect(salted[0] != nil && salted[0] == salted[1] && salted[0] != ids(nil)[0])
    }

    @Test(arguments: ["", "x", "0x1", "00000000000000001", "-1"])
    func `what is no salt`(text: String) { #expect(DeviceSalt(text) == nil) }

    @Test func `a salt is written with all its digits and read with fewer`() {
        #expect(Self.salt.text == "0123456789abcdef" && DeviceSalt(Self.salt.text) == Self.salt)
        #expect(DeviceSalt("A")?.text == "000000000000000a")
    }
}
