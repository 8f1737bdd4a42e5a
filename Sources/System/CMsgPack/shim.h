#pragma once
#include <msgpack.h>
#include <string.h>

/* msgpack-c's functions for packing are macros and inline functions over a buffer; its objects are unions. */

static inline msgpack_packer shim_packer(msgpack_sbuffer *buffer) {
    msgpack_packer packer;
    msgpack_packer_init(&packer, buffer, msgpack_sbuffer_write);
    return packer;
}

static inline void shim_pack_nil(msgpack_sbuffer *buffer) {
    msgpack_packer packer = shim_packer(buffer);
    msgpack_pack_nil(&packer);
}

static inline void shim_pack_flag(msgpack_sbuffer *buffer, int flag) {
    msgpack_packer packer = shim_packer(buffer);
    if (flag) msgpack_pack_true(&packer); else msgpack_pack_false(&packer);
}

static inline void shim_pack_integer(msgpack_sbuffer *buffer, int64_t number) {
    msgpack_packer packer = shim_packer(buffer);
    msgpack_pack_int64(&packer, number);
}

static inline void shim_pack_double(msgpack_sbuffer *buffer, double number) {
    msgpack_packer packer = shim_packer(buffer);
    msgpack_pack_double(&packer, number);
}

static inline void shim_pack_text(msgpack_sbuffer *buffer, const void *bytes, size_t count) {
    msgpack_packer packer = shim_packer(buffer);
    msgpack_pack_str(&packer, count);
    if (count > 0) msgpack_pack_str_body(&packer, bytes, count);
}

static inline void shim_pack_bytes(msgpack_sbuffer *buffer, const void *bytes, size_t count) {
    msgpack_packer packer = shim_packer(buffer);
    msgpack_pack_bin(&packer, count);
    if (count > 0) msgpack_pack_bin_body(&packer, bytes, count);
}

static inline void shim_pack_list(msgpack_sbuffer *buffer, size_t count) {
    msgpack_packer packer = shim_packer(buffer);
    msgpack_pack_array(&packer, count);
}

static inline void shim_pack_map(msgpack_sbuffer *buffer, size_t count) {
    msgpack_packer packer = shim_packer(buffer);
    msgpack_pack_map(&packer, count);
}

/* Whether the bytes are one message and nothing else. What was unpacked is freed with msgpack_unpacked_destroy. */
static inline int shim_unpack(msgpack_unpacked *unpacked, const char *bytes, size_t count) {
    size_t offset = 0;
    msgpack_unpacked_init(unpacked);
    return msgpack_unpack_next(unpacked, bytes, count, &offset) == MSGPACK_UNPACK_SUCCESS && offset == count;
}

static inline int shim_object_flag(const msgpack_object *object) { return object->via.boolean ? 1 : 0; }
static inline uint64_t shim_object_unsigned(const msgpack_object *object) { return object->via.u64; }
static inline int64_t shim_object_signed(const msgpack_object *object) { return object->via.i64; }
static inline double shim_object_double(const msgpack_object *object) { return object->via.f64; }

/* Of a text or of bytes. */
static inline const char *shim_object_bytes(const msgpack_object *object, size_t *count) {
    *count = object->type == MSGPACK_OBJECT_STR ? object->via.str.size : object->via.bin.size;
    return object->type == MSGPACK_OBJECT_STR ? object->via.str.ptr : object->via.bin.ptr;
}

/* Of a list or of a map. */
static inline size_t shim_object_count(const msgpack_object *object) {
    return object->type == MSGPACK_OBJECT_ARRAY ? object->via.array.size : object->via.map.size;
}

static inline const msgpack_object *shim_object_element(const msgpack_object *object, size_t index) {
    return &object->via.array.ptr[index];
}

static inline const msgpack_object *shim_object_key(const msgpack_object *object, size_t index) {
    return &object->via.map.ptr[index].key;
}

static inline const msgpack_object *shim_object_value(const msgpack_object *object, size_t index) {
    return &object->via.map.ptr[index].val;
}
