#pragma once
#include <stdlib.h>
#include <zmq.h>

/* A DEALER socket with a context of its own. */
typedef struct shim_dealer {
    void *context;
    void *socket;
} shim_dealer;

static inline void shim_dealer_free(shim_dealer *dealer) {
    if (dealer->socket != NULL) zmq_close(dealer->socket);
    if (dealer->context != NULL) zmq_ctx_term(dealer->context);
    free(dealer);
}

/* NULL with zmq_errno() where it cannot be made. A peer that sends more than `frame_max` bytes at once is cut off. Nothing is waited for when it is closed, longer than `linger` milliseconds. */
static inline shim_dealer *shim_dealer_new(
    const char *identity, size_t identity_count, const char *endpoint, int messages_max, int64_t frame_max, int linger
) {
    shim_dealer *dealer = (shim_dealer *)calloc(1, sizeof(shim_dealer));
    if (dealer == NULL) return NULL;
    int on = 1, idle = 30;
    dealer->context = zmq_ctx_new();
    if (dealer->context != NULL) dealer->socket = zmq_socket(dealer->context, ZMQ_DEALER);
    if (dealer->socket != NULL && zmq_setsockopt(dealer->socket, ZMQ_ROUTING_ID, identity, identity_count) == 0
        && zmq_setsockopt(dealer->socket, ZMQ_LINGER, &linger, sizeof linger) == 0
        && zmq_setsockopt(dealer->socket, ZMQ_SNDHWM, &messages_max, sizeof messages_max) == 0
        && zmq_setsockopt(dealer->socket, ZMQ_RCVHWM, &messages_max, sizeof messages_max) == 0
        && zmq_setsockopt(dealer->socket, ZMQ_MAXMSGSIZE, &frame_max, sizeof frame_max) == 0
        && zmq_setsockopt(dealer->socket, ZMQ_IPV6, &on, sizeof on) == 0
        && zmq_setsockopt(dealer->socket, ZMQ_TCP_KEEPALIVE, &on, sizeof on) == 0
        && zmq_setsockopt(dealer->socket, ZMQ_TCP_KEEPALIVE_IDLE, &idle, sizeof idle) == 0
        && zmq_connect(dealer->socket, endpoint) == 0)
        return dealer;
    int code = zmq_errno();
    shim_dealer_free(dealer);
    errno = code;
    return NULL;
}

/* The descriptor that tells that ZMQ_EVENTS may have changed; negative where there is none. */
static inline int shim_dealer_descriptor(const shim_dealer *dealer) {
    int descriptor = -1;
    size_t size = sizeof descriptor;
    return zmq_getsockopt(dealer->socket, ZMQ_FD, &descriptor, &size) == 0 ? descriptor : -1;
}

/* Whether a message can be received now. To ask also takes what woke the descriptor. */
static inline int shim_dealer_is_readable(const shim_dealer *dealer) {
    int events = 0;
    size_t size = sizeof events;
    return zmq_getsockopt(dealer->socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLIN) != 0;
}

/* 0, or the error: EAGAIN where the queue is full. */
static inline int shim_dealer_send(const shim_dealer *dealer, const void *bytes, size_t count) {
    return zmq_send(dealer->socket, bytes, count, ZMQ_DONTWAIT) >= 0 ? 0 : zmq_errno();
}

/* A frame that was received. */
typedef struct shim_frame {
    zmq_msg_t message;
} shim_frame;

/* 0, or the error: EAGAIN where there is none. A frame that was received is closed with shim_frame_close. */
static inline int shim_dealer_receive(const shim_dealer *dealer, shim_frame *frame) {
    zmq_msg_init(&frame->message);
    if (zmq_msg_recv(&frame->message, dealer->socket, ZMQ_DONTWAIT) >= 0) return 0;
    int code = zmq_errno();
    zmq_msg_close(&frame->message);
    return code;
}

static inline const void *shim_frame_bytes(shim_frame *frame) { return zmq_msg_data(&frame->message); }
static inline size_t shim_frame_count(const shim_frame *frame) { return zmq_msg_size(&frame->message); }
static inline void shim_frame_close(shim_frame *frame) { zmq_msg_close(&frame->message); }

static inline void shim_zmq_version(int *major, int *minor, int *patch) { zmq_version(major, minor, patch); }
