// TCP sockets and names of hosts.
#include "Result.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/sockios.h>
#endif

intptr_t shim_receive(int fd, void *bytes, size_t count) {
    ssize_t done;
    do done = recv(fd, bytes, count, 0); while (done < 0 && errno == EINTR);
    return done < 0 ? -errno : done;
}

intptr_t shim_send(int fd, const void *bytes, size_t count) {
    ssize_t done;
#ifdef MSG_NOSIGNAL
    do done = send(fd, bytes, count, MSG_NOSIGNAL); while (done < 0 && errno == EINTR);
#else
    do done = send(fd, bytes, count, 0); while (done < 0 && errno == EINTR);
#endif
    return done < 0 ? -errno : done;
}

static void shim_socket_flags(int fd) {
#ifdef SO_NOSIGPIPE
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof one);
#endif
    (void)fd;
}

int shim_socket(int family, int type, int protocol) {
#ifdef __linux__
    return shim_result(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
#else
    int fd = socket(family, type, protocol);
    if (fd < 0) return -errno;
    shim_close_on_exec(fd);
    shim_set_nonblocking(fd, 1);
    shim_socket_flags(fd);
    return fd;
#endif
}

int shim_socket_pair(int *first, int *second) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return -errno;
    for (int index = 0; index < 2; index++) {
        shim_close_on_exec(ends[index]);
        shim_set_nonblocking(ends[index], 1);
        shim_socket_flags(ends[index]);
    }
    *first = ends[0];
    *second = ends[1];
    return 0;
}

// Fills an address from a numeric host; returns its length or -EINVAL.
static int shim_address(const char *host, uint16_t port, struct sockaddr_storage *address) {
    memset(address, 0, sizeof *address);
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        return (int)sizeof *four;
    }
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        return (int)sizeof *six;
    }
    return -EINVAL;
}

int shim_listen(const char *host, uint16_t port, int backlog) {
    struct sockaddr_storage address;
    int length = shim_address(host, port, &address);
    if (length < 0) return length;
    int fd = shim_socket(address.ss_family, SOCK_STREAM, 0);
    if (fd < 0) return fd;
    int one = 1;
    // For connections in TIME_WAIT only; on Linux and macOS it does not let two listeners share a port.
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, (socklen_t)length) < 0 || listen(fd, backlog) < 0) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

int shim_bind(const char *host, uint16_t port) {
    struct sockaddr_storage address;
    int length = shim_address(host, port, &address);
    if (length < 0) return length;
    int fd = shim_socket(address.ss_family, SOCK_STREAM, 0);
    if (fd < 0) return fd;
    if (bind(fd, (struct sockaddr *)&address, (socklen_t)length) < 0) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

int shim_connect(const char *host, uint16_t port) { return shim_connect_from(NULL, host, port); }

int shim_connect_from(const char *source, const char *host, uint16_t port) {
    struct sockaddr_storage address;
    int length = shim_address(host, port, &address);
    if (length < 0) return length;
    int fd = shim_socket(address.ss_family, SOCK_STREAM, 0);
    if (fd < 0) return fd;
    int bound = source ? shim_bind_source(fd, source) : 0;
    if (bound < 0) {
        close(fd);
        return bound;
    }
    if (connect(fd, (struct sockaddr *)&address, (socklen_t)length) < 0 && errno != EINPROGRESS) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

int shim_bind_source(int fd, const char *host) {
    struct sockaddr_storage address;
    int length = shim_address(host, 0, &address);
    if (length < 0) return length;
#ifdef IP_BIND_ADDRESS_NO_PORT
    int one = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
#endif
    return shim_result(bind(fd, (struct sockaddr *)&address, (socklen_t)length));
}

int shim_check_source(const char *host) {
    struct sockaddr_storage address;
    int length = shim_address(host, 0, &address);
    if (length < 0) return length;
    int fd = shim_socket(address.ss_family, SOCK_STREAM, 0);
    if (fd < 0) return fd;
    int result = shim_bind_source(fd, host);
    close(fd);
    return result;
}

int shim_accept(int listener) {
    int fd;
#ifdef __linux__
    do fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); while (fd < 0 && errno == EINTR);
    return shim_result(fd);
#else
    do fd = accept(listener, NULL, NULL); while (fd < 0 && errno == EINTR);
    if (fd < 0) return -errno;
    shim_close_on_exec(fd);
    shim_set_nonblocking(fd, 1);
    shim_socket_flags(fd);
    return fd;
#endif
}

static int shim_port_of(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET) return ntohs(((const struct sockaddr_in *)address)->sin_port);
    if (address->ss_family == AF_INET6) return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    return -EAFNOSUPPORT;
}

int shim_local_port(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
    return shim_port_of(&address);
}

int shim_peer_port(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
    return shim_port_of(&address);
}

int shim_no_delay(int fd) {
    int one = 1;
    return shim_result(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
}

int shim_linger_zero(int fd) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    return shim_result(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
}

int shim_send_buffer(int fd, int bytes) {
    return shim_result(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes));
}

int shim_receive_buffer(int fd, int bytes) {
    return shim_result(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes));
}

int shim_socket_error(int fd) {
    int code = 0;
    socklen_t length = sizeof code;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length) < 0) return -errno;
    return code;
}

int shim_shut_down_sending(int fd) { return shim_result(shutdown(fd, SHUT_WR)); }

int shim_peer_is_gone(int fd) {
#ifdef POLLRDHUP
    struct pollfd ready = {.fd = fd, .events = POLLRDHUP};
    const short gone = POLLRDHUP | POLLHUP | POLLERR;
#else
    struct pollfd ready = {.fd = fd, .events = 0}; // macOS: POLLHUP is reported when the peer has sent FIN.
    const short gone = POLLHUP | POLLERR;
#endif
    return poll(&ready, 1, 0) > 0 && (ready.revents & gone) != 0;
}

int shim_is_reset(int fd) {
#ifdef __linux__
    struct tcp_info info;
    socklen_t length = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_state == TCP_CLOSE;
#else
    struct tcp_connection_info info;
    socklen_t length = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &length) == 0 && info.tcpi_state == TSI_S_CLOSED;
#endif
}

int shim_shut_down(int fd) { return shim_result(shutdown(fd, SHUT_RDWR)); }

int shim_unsent_bytes(int fd) {
    int count = 0;
#ifdef __linux__
    return ioctl(fd, SIOCOUTQ, &count) < 0 ? -errno : count;
#else
    socklen_t length = sizeof count;
    return getsockopt(fd, SOL_SOCKET, SO_NWRITE, &count, &length) < 0 ? -errno : count;
#endif
}

int shim_resolve(const char *host, char *texts, int count, const char **failure) {
    struct addrinfo hints, *list = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    int code = getaddrinfo(host, NULL, &hints, &list);
    if (code != 0) {
        *failure = gai_strerror(code);
        return -1;
    }
    int found = 0;
    for (struct addrinfo *one = list; one && found < count; one = one->ai_next) {
        const void *raw = NULL;
        if (one->ai_family == AF_INET) raw = &((struct sockaddr_in *)one->ai_addr)->sin_addr;
        if (one->ai_family == AF_INET6) raw = &((struct sockaddr_in6 *)one->ai_addr)->sin6_addr;
        char *text = texts + (size_t)found * SHIM_ADDRESS_BYTES_MAX;
        if (raw && inet_ntop(one->ai_family, raw, text, SHIM_ADDRESS_BYTES_MAX)) found++;
    }
    freeaddrinfo(list);
    return found;
}

int shim_peer_host(int fd, char *text) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
    const void *raw = NULL;
    if (address.ss_family == AF_INET) raw = &((struct sockaddr_in *)&address)->sin_addr;
    if (address.ss_family == AF_INET6) raw = &((struct sockaddr_in6 *)&address)->sin6_addr;
    if (!raw) return -EAFNOSUPPORT;
    return inet_ntop(address.ss_family, raw, text, SHIM_ADDRESS_BYTES_MAX) ? 0 : -errno;
}
