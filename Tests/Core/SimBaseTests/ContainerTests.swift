import SimBase
import Testing

@Suite struct ContainerTests {
    @Test func `the heap gives what is due in order, ties by insertion`() {
        var heap = EventHeap<String>()
        for (text, at) in [("d", 9), ("a", 3), ("b", 3), ("c", 5)] {
            heap.insert(text, at: Instant(nanoseconds: Int64(at)))
        }
        var popped: [String] = []
        while let next = heap.popDue(at: Instant(nanoseconds: 5)) { popped.append(next.element) }
        #expect(popped == ["a", "b", "c"])
        #expect(heap.nextAt == Instant(nanoseconds: 9))
    }

    @Test func `the heap sorts whatever comes`() {
        let random = KeyedRandom(seed: 1)
        var heap = EventHeap<UInt64>()
        for index in 0..<2_000 as Range<UInt64> {
            let due = random.below(500, .test, index)
            heap.insert(due, at: Instant(nanoseconds: Int64(due)))
        }
        var last: UInt64 = 0
        var count = 0
        while let next = heap.popFirst() {
            #expect(next.element >= last)
            last = next.element
            count += 1
        }
        #expect(count == 2_000)
    }

    @Test func `the heap does what a sorted list does, entries coming and going`() {
        let random = KeyedRandom(seed: 2)
        var heap = EventHeap<Int>()
        var list: [(at: Int64, element: Int)] = []
        for step in 0..<5_000 {
            if random.below(5, .test, UInt64(step), 0) < 3 {
                let at = Int64(random.below(40, .test, UInt64(step), 1))
                heap.insert(step, at: Instant(nanoseconds: at))
                let behind = list.firstIndex { $0.at > at } ?? list.count
                list.insert((at, step), at: behind)
            } else {
                let first = list.isEmpty ? nil : list.removeFirst()
                #expect(heap.popFirst()?.element == first?.element)
            }
            #expect(heap.count == list.count)
            #expect(heap.nextAt?.nanoseconds == list.first?.at)
            #expect(heap.next?.element == list.first?.element)
        }
    }

    @Test func `the heap lets go of what was taken`() {
        final class Held: Sendable {}
        var heap = EventHeap<Held>()
        weak var taken: Held?
        do {
            let held = Held()
            taken = held
            heap.insert(held, at: .zero)
        }
        #expect(taken != nil)
        _ = heap.popFirst()
        #expect(taken == nil)
        #expect(heap.isEmpty)
    }

    @Test func `the table answers by key and iterates by slot`() {
        var table = SlotMap<String, Int>()
        for (index, key) in ["x", "a", "m"].enumerated() { table[key] = index }
        table["a"] = nil
        table["z"] = 9
        let doubled = table.update("m") { value in
            value *= 2
            return value
        }
        #expect(doubled == 4)
        #expect(table.keys == ["x", "z", "m"])
        #expect(table.values == [0, 9, 4])
        #expect(table["a"] == nil)
        #expect(table.count == 3)
    }

    @Test func `hexadecimal text goes there and back`() {
        #expect(Hexadecimal.text(0xBEEF, digits: 8) == "0000beef")
        #expect(Hexadecimal.text(.max, digits: 16) == "ffffffffffffffff")
        #expect(Hexadecimal.value("00BeeF") == 0xBEEF)
        #expect(Hexadecimal.value("") == nil)
        #expect(Hexadecimal.value("12345678901234567") == nil)
        #expect(Hexadecimal.value("0x1") == nil)
        for count in 1...16 {
            let value: UInt64 = 0xFEDC_BA98_7654_3210 >> UInt64(64 - 4 * count)
            let text = Hexadecimal.text(value, digits: count)
            #expect(text == String(String(value, radix: 16).suffix(count)))
            #expect(Hexadecimal.value(text) == value)
            #expect(Hexadecimal.value(text.uppercased()) == value)
        }
        #expect(Hexadecimal.text(0xFF, digits: 1) == "f")
        #expect(Hexadecimal.text(1, digits: 20) == "00000000000000000001")
        #expect(Hexadecimal.text(1, digits: 0) == "")
    }

    @Test func `every byte is a digit or none, wherever it stands`() {
        for byte in UInt8.min ... .max {
            for slot in 0..<8 {
                let shift = UInt64(8 * slot)
                let word: UInt64 = 0x3030_3030_3030_3030 & ~(0xFF << shift) | UInt64(byte) << shift
                let expected = Hexadecimal.nibble(byte).map { UInt32($0) << UInt32(4 * (7 - slot)) }
                #expect(Hexadecimal.value(digits: word) == expected)
            }
        }
    }

    @Test func `the digest depends on every byte and its slot`() {
        #expect(Digest.of("ab") != Digest.of("ba"))
        #expect(Digest.of("") == Digest().value)
        var one = Digest()
        one.absorb(UInt64(0x0102_0304_0506_0708))
        var other = Digest()
        other.absorb([8, 7, 6, 5, 4, 3, 2, 1] as [UInt8])
        #expect(one.value == other.value)
    }

    @Test(arguments: 0..<20) func `the digest by words depends on every byte and on the length`(count: Int) {
        let text = String(repeating: "a", count: count)
        var others = [text + "a", text + "\u{0}"]
        for index in 0..<count {
            var bytes = Array(text.utf8)
            bytes[index] = UInt8(ascii: "b")
            others.append(String(decoding: bytes, as: UTF8.self))
        }
        #expect(Set((others + [text]).map { Digest.inWords(of: $0) }).count == others.count + 1)
    }
}

/// A table remembers the index that was changed last: it must not use it for a key that is gone.
@Suite struct OrderedTableMemoryTests {
    @Test func `a key that was changed and taken out is not found where the next one stands`() {
        var table = SlotMap<Int, String>()
        table[1] = "one"
        table.update(1) { $0 += "!" }
        table[1] = nil
        #expect(table[1] == nil)
        table[2] = "two"
        #expect(table[1] == nil)
        #expect(table.update(1) { $0 = "gone" } == nil)
        #expect(table[2] == "two")
        table[1] = "again"
        #expect((table[1], table[2], table.count) == ("again", "two", 2))
    }

    @Test func `keys that are changed by turns keep their values`() {
        var table = SlotMap<Int, Int>()
        for key in 0..<5 { table[key] = 0 }
        for round in 0..<50 { table.update(round * 7 % 5) { $0 += 1 } }
        #expect(table.values == [10, 10, 10, 10, 10])
        #expect(table.with(3) { $0 } == 10)
    }
}
