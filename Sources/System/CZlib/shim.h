#pragma once
#include <string.h>
#include <zlib.h>

/* deflateInit2 is a macro. A small window and little memory: what is packed is short, and there is much of it.
   `count` is the room at first and what was written at the end; anything but Z_OK is a failure. */
static inline int shim_deflate(
    const unsigned char *bytes, size_t byteCount, unsigned char *packed, size_t *count
) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    int code = deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 12, 2, Z_DEFAULT_STRATEGY);
    if (code != Z_OK) return code;
    stream.next_in = (Bytef *)bytes;
    stream.avail_in = (uInt)byteCount;
    stream.next_out = packed;
    stream.avail_out = (uInt)*count;
    code = deflate(&stream, Z_FINISH);
    *count = stream.total_out;
    deflateEnd(&stream);
    return code == Z_STREAM_END ? Z_OK : Z_BUF_ERROR;
}
