/// A photograph that is being processed: red, green and blue, three bytes a pixel, as `Bitmap` has them.
struct PhotoPixels: ~Copyable {
    let size: PixelSize
    let rows: ByteRows

    /// Allocates the pixels, in `memory` if it is large enough; its old content is kept.
    init(size: PixelSize, in memory: consuming PictureMemory? = nil) {
        self.size = size
        let width = size.width * Bitmap.bytesPerPixel
        if let memory, memory.count >= width * size.height {
            self.rows = ByteRows(width: width, height: size.height, in: memory)
        } else {
            self.rows = ByteRows(width: width, height: size.height)
        }
    }

    consuming func takeMemory() -> PictureMemory { self.rows.takeMemory() }

    /// A copy.
    var bitmap: Bitmap {
        let bytes = unsafe UnsafeBufferPointer(
            start: self.rows.base, count: self.rows.width * self.rows.height)
        return Bitmap(width: self.size.width, height: self.size.height, pixels: unsafe Array(bytes))
    }
}
