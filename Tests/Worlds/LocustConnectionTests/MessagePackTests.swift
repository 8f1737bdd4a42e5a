import LocustConnection
import LocustWorker
import SimBase
import Testing

/// Bytes that Python's msgpack 1.2.4 writes, as Locust does.
@Suite struct MessagePackTests {
    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    private static func map(_ members: (String, MessageValue)...) -> MessageValue {
        .map(members.map { .init(.text($0.0), $0.1) })
    }

    private static let written: [(WorkerMessage, String)] = [
        (.clientReady, "93ac636c69656e745f7265616479ffa6686f73745f31"),
        (
            .heartbeat(
                .running, ProcessUsage(processorPercent: 12_500_000_000, residentBytes: 123_456_789)),
            "93a968656172746265617483a57374617465a772756e6e696e67b163757272656e745f6370755f7573616765cb4029000000000000b463757272656e745f6d656d6f72795f7573616765ce075bcd15a6686f73745f31"
        ),
        (
            .spawningComplete([.init(group: "commuters", phones: 2)]),
            "93b1737061776e696e675f636f6d706c65746582b2757365725f636c61737365735f636f756e7481a9636f6d6d757465727302aa757365725f636f756e7402a6686f73745f31"
        ),
    ]

    @Test func `messages are the bytes that Locust's own worker sends`() {
        for (message, bytes) in Self.written {
            #expect(MessagePack.bytes(message.value(from: "host_1")) == Self.bytes(bytes))
        }
    }

    @Test func `an order of the master is read`() throws {
        let value = try #require(
            MessagePack.value(
                Self.bytes(
                    "93a5737061776e85a974696d657374616d70cb41d954fc40100000b2757365725f636c61737365735f636f756e7482a9636f6d6d757465727303a4686f6d6500a4686f7374b5687474703a2f2f3132372e302e302e313a38303830ac73746f705f74696d656f7574cb0000000000000000ae7061727365645f6f7074696f6e7384a8686561646c657373c3a474616773c0a46c6973749191a161a36e6567d2fffeee90a6686f73745f31"
                )))
        #expect(
            MasterMessage(value)
                == .spawn(
                    SpawnOrder(
                        timestamp: 1_700_000_000_250_000_000,
                        counts: [.init(group: "commuters", phones: 3), .init(group: "home", phones: 0)],
                        host: "http://127.0.0.1:8080")))
    }

    @Test func `numbers, texts and bytes of every size come through`() {
        let numbers: [Int64] = [
            0, 127, 128, 255, 256, 65_535, 65_536, 1 << 32, .max, -1, -32, -33, -128, -129, -(1 << 31), .min,
        ]
        let list = MessageValue.list(numbers.map { .integer($0) })
        let bytes = Self.bytes(
            "dc0010007fcc80ccffcd0100cdffffce00010000cf0000000100000000cf7fffffffffffffffffe0d0dfd080d1ff7fd280000000d38000000000000000"
        )
        #expect(MessagePack.bytes(list) == bytes)
        #expect(MessagePack.value(bytes) == list)
        let mixed = Self.map(
            ("bytes", .bytes([0, 255])), ("text", .text("grün")),
            ("big", .text(String(repeating: "x", count: 40))))
        let text = Self.bytes(
            "83a56279746573c40200ffa474657874a56772c3bc6ea3626967d92878787878787878787878787878787878787878787878787878787878787878787878787878787878"
        )
        #expect(MessagePack.bytes(mixed) == text)
        #expect(MessagePack.value(text) == mixed)
    }

    @Test(
        arguments: [
            [], [0xC1], [0x93, 0x01], [0x01, 0x02], [0xDD, 0xFF, 0xFF, 0xFF, 0xFF],
            // An extension type, a number above 2^63, and a float that is none.
            [0xD4, 0x01, 0x00], [0xCF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [0xCB, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0], Array(repeating: 0x91, count: 10_000),
        ] as [[UInt8]]) func `other bytes are no message`(bytes: [UInt8])
    {
        #expect(MessagePack.value(bytes) == nil)
    }
}
