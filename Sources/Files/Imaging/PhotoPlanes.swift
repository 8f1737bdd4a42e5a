/// A picture as photographs are stored: luma at full size, both planes of chroma at half of it (JPEG's YCbCr, 4:2:0).
struct PhotoPlanes: ~Copyable {
    let size: PixelSize
    /// The luma plane: the size of the picture, rounded up to even numbers.
    let luma: ByteRows
    let blue: ByteRows
    let red: ByteRows

    init(size: PixelSize) {
        self.size = size
        let (across, down) = ((size.width + 1) / 2, (size.height + 1) / 2)
        self.luma = ByteRows(width: across * 2, height: down * 2)
        self.blue = ByteRows(width: across, height: down)
        self.red = ByteRows(width: across, height: down)
    }

    /// For libturbojpeg: the addresses of the planes from luma's row `top` on, which is even, and the lengths of their
    /// rows.
    func withAddresses<Result>(
        top: Int,
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int32>) -> Result
    ) -> Result {
        precondition(top % 2 == 0, "chroma has a row for two of luma")
        var addresses = unsafe [Optional(self.luma.row(top)), self.blue.row(top / 2), self.red.row(top / 2)]
        var strides = [Int32(self.luma.width), Int32(self.blue.width), Int32(self.red.width)]
        return unsafe addresses.withUnsafeMutableBufferPointer { addresses in
            unsafe strides.withUnsafeMutableBufferPointer { strides in
                guard let addresses = addresses.baseAddress, let strides = strides.baseAddress else {
                    preconditionFailure("an array of three has an address")
                }
                return unsafe body(addresses, strides)
            }
        }
    }

    /// Repeats the last column and the last row of luma where the picture's sides are odd, as an encoder does.
    func padLuma() {
        let (width, height) = (self.size.width, self.size.height)
        if width < self.luma.width {
            for row in 0..<height {
                let samples = unsafe self.luma.row(row)
                unsafe samples[width] = samples[width - 1]
            }
        }
        if height < self.luma.height {
            unsafe self.luma.row(height).update(from: self.luma.row(height - 1), count: self.luma.width)
        }
    }
}
