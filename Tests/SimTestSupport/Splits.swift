package import SimBase

/// Runs `body` with the bytes cut in two at every position, the empty first and last piece included.
package func withEverySplit(of bytes: [UInt8], _ body: ([[UInt8]]) throws -> Void) rethrows {
    for cut in 0...bytes.count {
        try body([Array(bytes[..<cut]), Array(bytes[cut...])])
    }
}

/// Runs `body` with the bytes cut into pieces of `size` bytes, the last one shorter.
package func withPieces(of bytes: [UInt8], size: Int, _ body: ([[UInt8]]) throws -> Void) rethrows {
    precondition(size > 0, "pieces of nothing never end")
    let pieces = stride(from: 0, to: bytes.count, by: size).map { start in
        Array(bytes[start..<min(start + size, bytes.count)])
    }
    try body(pieces)
}

/// Runs `body` `samples` times with the bytes cut at positions drawn from `random`; pieces may be empty.
///
/// - Parameter entity: Which draws to use, so that one seed serves many calls.
package func withSampledSplits(
    of bytes: [UInt8], pieces: Int, samples: Int, random: KeyedRandom, entity: UInt64,
    _ body: ([[UInt8]]) throws -> Void
) rethrows {
    precondition(pieces > 0, "no pieces hold nothing")
    for sample in 0..<samples {
        let cuts = (0..<pieces - 1).map { cut in
            Int(random.below(UInt64(bytes.count) + 1, .test, entity, UInt64(sample), UInt64(cut)))
        }
        let ends = cuts.sorted() + [bytes.count]
        var start = 0
        var parts: [[UInt8]] = []
        for end in ends {
            parts.append(Array(bytes[start..<end]))
            start = end
        }
        try body(parts)
    }
}
