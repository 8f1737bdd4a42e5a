// A reference server for the benchmarks of the live fleet: one thread, epoll, keep-alive, no allocation for a request.
//
// It serves the journey of Docs/contract.md, section 1: an upload, a stream of events that ends with `completed` without
// books, the results, and the cleanup. It records when it saw each step of each job, by CLOCK_MONOTONIC. A look-up of a single
// book (section 3.2) is a journey of one request, without a job: the book has the barcode of the request as its ISBN.
//
//   server [--port N] [--gap-us N] [--events N] [--books N] [--ping-ms N] [--counts FILE] [--jobs FILE]
//
// --events 0 opens streams that never get an event. --counts is a file of counters that stays mapped (see `struct counts`).
// --jobs is written at SIGTERM: one line for each job.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    DESCRIPTORS_MAX = 65536,
    JOBS_MAX = 4000000,
    HEAD_MAX = 2048,     // of a request
    PENDING_MAX = 4096,  // of an answer that the socket did not take
    BODY_START = 256,    // bytes of an upload that are looked at
    EVENT_TIMES = 8,     // of a job with more events: the first seven and the last
    ID_LENGTH = 36,
    TOKEN_LENGTH = 64,
    BARCODE_LENGTH = 13,
};

// Read by other processes while the server runs. Eight bytes each, in this order.
struct counts {
    uint64_t start, uploads, streams, events, results, journeys, errors, connections, streams_open, unknown_jobs;
};

// Times are in nanoseconds since the start of the server. 0: not yet.
struct job {
    uint64_t first_byte, posted, accepted, stream, results, deleted;
    uint64_t events[EVENT_TIMES];
    uint32_t event_count;
    uint64_t last_id;
    char device[ID_LENGTH];
};

struct connection {
    enum { CLOSED, HEAD, BODY, STREAM } state;
    uint32_t generation;
    uint32_t job;
    uint32_t used;  // of `buffer`
    bool closes, waits;  // `waits`: an event is due and the socket is full
    uint64_t body_left, first_byte;
    uint32_t pending_from, pending_to;
    char buffer[HEAD_MAX];
    char pending[PENDING_MAX];
};

struct due {
    uint64_t at;
    uint32_t fd, generation;
};

static struct connection *connections;
static struct job *jobs;
static uint32_t job_count;
static struct counts *counts;
static uint64_t start_ns, secret;
static int poller;
static uint64_t gap_ns = 20000000, ping_ns;
static uint32_t event_max = 6, book_count = 3;
static char results_tail[8192];
static size_t results_tail_length;
// Every stream waits the same time for its next event, so the queue is in order of time.
static struct due *queue;
static uint32_t queue_head, queue_tail;
static volatile sig_atomic_t is_over;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec - start_ns;
}

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// A job id and a token are functions of the job's number, so that neither is stored.
static void write_id(char *out, uint32_t job) {
    char text[ID_LENGTH + 1];
    snprintf(text, sizeof text, "%08x-0000-4000-8000-%012x", (uint32_t)secret, job);
    memcpy(out, text, ID_LENGTH);
}

static void write_token(char *out, uint32_t job) {
    for (int part = 0; part < 4; part++) {
        char text[17];
        snprintf(text, sizeof text, "%016" PRIx64, mix(secret + (uint64_t)job * 4 + (uint64_t)part));
        memcpy(out + part * 16, text, 16);
    }
}

static const char *timestamp(uint64_t *milliseconds) {
    static char text[32];
    static uint64_t last;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    *milliseconds = (uint64_t)time.tv_sec * 1000u + (uint64_t)time.tv_nsec / 1000000u;
    if (*milliseconds != last) {
        struct tm parts;
        gmtime_r(&time.tv_sec, &parts);
        size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
        snprintf(text + length, sizeof text - length, ".%03uZ", (unsigned)(*milliseconds % 1000));
        last = *milliseconds;
    }
    return text;
}

// MARK: Connections

static void watch(int fd, bool for_writing) {
    struct epoll_event event = {.events = EPOLLIN | (for_writing ? EPOLLOUT : 0), .data.fd = fd};
    if (epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event) < 0) fail("epoll_ctl");
}

static void close_connection(int fd) {
    struct connection *c = &connections[fd];
    if (c->state == STREAM) counts->streams_open--;
    c->state = CLOSED;
    c->generation++;
    counts->connections--;
    close(fd);
}

// Sends, or keeps what the socket does not take. False if the connection is closed now.
static bool send_bytes(int fd, const char *bytes, size_t length) {
    struct connection *c = &connections[fd];
    ssize_t sent = c->pending_to > 0 ? 0 : send(fd, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) {
        close_connection(fd);
        return false;
    }
    if (sent < 0) sent = 0;
    size_t rest = length - (size_t)sent;
    if (rest == 0) return true;
    if (c->pending_to + rest > PENDING_MAX) {
        counts->errors++;
        close_connection(fd);
        return false;
    }
    memcpy(c->pending + c->pending_to, bytes + sent, rest);
    c->pending_to += (uint32_t)rest;
    watch(fd, true);
    return true;
}

static bool answer(int fd, const char *status, const char *type, const char *body, size_t length) {
    char text[PENDING_MAX];
    int head = snprintf(
        text, sizeof text, "HTTP/1.1 %s\r\nX-Request-ID: req-%016" PRIx64 "\r\n%s%s%sContent-Length: %zu\r\n\r\n", status,
        mix(counts->uploads + counts->results), *type ? "Content-Type: " : "", type, *type ? "\r\n" : "", length);
    if (length == 0 && strncmp(status, "204", 3) == 0)
        head = snprintf(
            text, sizeof text, "HTTP/1.1 204 No Content\r\nX-Request-ID: req-%016" PRIx64 "\r\n\r\n",
            mix(counts->journeys));
    memcpy(text + head, body, length);
    if (!send_bytes(fd, text, (size_t)head + length)) return false;
    if (connections[fd].closes) close_connection(fd);
    return true;
}

static void refuse(int fd, const char *status, const char *title, const char *code) {
    char body[512];
    int length = snprintf(
        body, sizeof body,
        "{\"success\":false,\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%.3s,\"detail\":\"%s\","
        "\"code\":\"%s\",\"retryable\":false,\"metadata\":{}}",
        title, status, title, code);
    answer(fd, status, "application/problem+json", body, (size_t)length);
}

// MARK: Events

static void enqueue(int fd, uint64_t at) {
    queue[queue_tail % DESCRIPTORS_MAX] = (struct due){at, (uint32_t)fd, connections[fd].generation};
    queue_tail++;
}

static void send_ping(int fd, uint64_t at) {
    uint64_t milliseconds;
    char data[256], text[300];
    int length = snprintf(
        data, sizeof data, "event: ping\ndata: {\"timestamp\":\"%s\",\"type\":\"ping\"}\n\n", timestamp(&milliseconds));
    int all = snprintf(text, sizeof text, "%x\r\n%s\r\n", (unsigned)length, data);
    if (send_bytes(fd, text, (size_t)all)) enqueue(fd, at + ping_ns);
}

static void send_event(int fd, uint64_t at) {
    struct connection *c = &connections[fd];
    if (c->pending_to > 0) {
        c->waits = true;
        return;
    }
    struct job *job = &jobs[c->job];
    uint32_t number = ++job->event_count;
    bool is_last = number == event_max;
    uint64_t milliseconds;
    const char *time = timestamp(&milliseconds);
    job->last_id = milliseconds > job->last_id ? milliseconds : job->last_id + 1;
    char id[ID_LENGTH + 1] = "", data[1024], text[1100];
    write_id(id, c->job);
    int length;
    if (is_last)
        length = snprintf(
            data, sizeof data,
            "id: %" PRIu64 "-completed\nevent: completed\ndata: {\"jobId\":\"%s\",\"resultsUrl\":"
            "\"/v3/jobs/scans/%s/results\",\"summary\":{\"approved\":%u,\"needsReview\":0,\"totalDetected\":%u},"
            "\"type\":\"completed\"}\n\n",
            job->last_id, id, id, book_count, book_count);
    else
        length = snprintf(
            data, sizeof data,
            "id: %" PRIu64 "-progress\nevent: progress\ndata: {\"jobId\":\"%s\",\"message\":\"Processing photo 1 of 1...\","
            "\"processedCount\":0,\"progress\":%.4f,\"status\":\"analyzing_image\",\"timestamp\":\"%s\","
            "\"totalCount\":1,\"type\":\"progress\"}\n\n",
            job->last_id, id, (double)number / event_max, time);
    int all = snprintf(text, sizeof text, "%x\r\n%s\r\n%s", (unsigned)length, data, is_last ? "0\r\n\r\n" : "");
    uint32_t slot = is_last ? (number <= EVENT_TIMES ? number : EVENT_TIMES) : number;
    if (is_last) {
        c->state = HEAD;
        counts->streams_open--;
    }
    if (!send_bytes(fd, text, (size_t)all)) return;
    counts->events++;
    if (slot < EVENT_TIMES || is_last) job->events[slot - 1] = now_ns();
    if (!is_last)
        enqueue(fd, at + gap_ns);
    else if (c->closes)
        close_connection(fd);
}

static void send_due(void) {
    uint64_t now = now_ns();
    while (queue_head != queue_tail && queue[queue_head % DESCRIPTORS_MAX].at <= now) {
        struct due due = queue[queue_head++ % DESCRIPTORS_MAX];
        struct connection *c = &connections[due.fd];
        if (c->state != STREAM || c->generation != due.generation) continue;
        if (event_max == 0) send_ping((int)due.fd, due.at);
        else send_event((int)due.fd, due.at);
    }
}

// MARK: Requests

// The value of a header, or an empty one.
static const char *header(const char *head, const char *name, size_t *length) {
    size_t name_length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, name_length) != 0 || line[name_length] != ':') continue;
        const char *value = line + name_length + 1;
        while (*value == ' ') value++;
        *length = (size_t)(strstr(value, "\r\n") - value);
        return value;
    }
    *length = 0;
    return "";
}

static void unexpected(int fd, const char *status, const char *title, const char *code) {
    counts->errors++;
    refuse(fd, status, title, code);
}

static void finish_upload(int fd) {
    struct connection *c = &connections[fd];
    uint32_t number = c->job;
    struct job *job = &jobs[number];
    job->posted = now_ns();
    counts->uploads++;
    c->state = HEAD;
    char start[BODY_START + 1] = "";
    memcpy(start, c->buffer, c->used);
    c->used = 0;
    if (!strstr(start, "name=\"photos[]\"") || !strstr(start, "image/jpeg")) {
        unexpected(fd, "400 Bad Request", "No photo", "INVALID_FILE");
        return;
    }
    char id[ID_LENGTH + 1] = "", token[TOKEN_LENGTH + 1] = "", body[1536];
    write_id(id, number);
    write_token(token, number);
    uint64_t milliseconds;
    int length = snprintf(
        body, sizeof body,
        "{\"_links\":{\"cancel\":{\"href\":\"/v3/jobs/scans/%s\",\"method\":\"DELETE\",\"rel\":\"cancel\"},"
        "\"self\":{\"href\":\"/v3/jobs/scans/%s\",\"method\":\"GET\",\"rel\":\"self\"},"
        "\"stream\":{\"href\":\"/v3/jobs/scans/%s/stream\",\"method\":\"GET\",\"rel\":\"stream\"}},"
        "\"data\":{\"authToken\":\"%s\",\"jobId\":\"%s\",\"sseUrl\":\"/v3/jobs/scans/%s/stream\","
        "\"statusUrl\":\"/v3/jobs/scans/%s\"},\"metadata\":{\"requestId\":\"req-%08x\",\"timestamp\":\"%s\"},"
        "\"success\":true}",
        id, id, id, token, id, id, id, number, timestamp(&milliseconds));
    if (answer(fd, "202 Accepted", "application/json", body, (size_t)length)) job->accepted = now_ns();
}

static void begin_upload(int fd, const char *device, const char *body, size_t received) {
    struct connection *c = &connections[fd];
    if (job_count == JOBS_MAX) {
        unexpected(fd, "503 Service Unavailable", "Too many jobs", "CIRCUIT_OPEN");
        return;
    }
    c->job = job_count++;
    jobs[c->job].first_byte = c->first_byte;
    memcpy(jobs[c->job].device, device, ID_LENGTH);
    c->state = BODY;
    c->used = (uint32_t)(received < BODY_START ? received : BODY_START);
    memmove(c->buffer, body, c->used);
    c->body_left -= received;
    if (c->body_left == 0) finish_upload(fd);
}

// Answers a look-up of a single book, whose body has come with its head.
static void answer_lookup(int fd, const char *body) {
    static const char key[] = "{\"barcode\":\"";
    const char *barcode = strncmp(body, key, sizeof key - 1) == 0 ? body + sizeof key - 1 : "";
    if (strspn(barcode, "0123456789") != BARCODE_LENGTH) {
        unexpected(fd, "400 Bad Request", "No barcode", "INVALID_REQUEST");
        return;
    }
    uint64_t milliseconds;
    char text[512];
    int all = snprintf(
        text, sizeof text,
        "{\"data\":{\"author\":\"Author\",\"isbn\":\"%.*s\",\"title\":\"Book\",\"vectorized\":false},"
        "\"metadata\":{\"cached\":false,\"source\":\"auto\",\"timestamp\":\"%s\"},\"success\":true}",
        BARCODE_LENGTH, barcode, timestamp(&milliseconds));
    counts->uploads++;
    if (answer(fd, "200 OK", "application/json", text, (size_t)all)) counts->journeys++;
}

static void open_stream(int fd, struct job *job) {
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache, no-store, must-revalidate\r\n"
        "X-Accel-Buffering: no\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\n: connection established\n\n\r\n";
    struct connection *c = &connections[fd];
    if (job->stream != 0) {
        unexpected(fd, "409 Conflict", "The stream was opened before", "CONFLICT");
        return;
    }
    if (!send_bytes(fd, head, sizeof head - 1)) return;
    job->stream = now_ns();
    c->state = STREAM;
    counts->streams++;
    counts->streams_open++;
    if (event_max > 0) enqueue(fd, job->stream + gap_ns);
    else if (ping_ns > 0) enqueue(fd, job->stream + ping_ns);
}

static void send_results(int fd, uint32_t number) {
    struct job *job = &jobs[number];
    if (job->event_count < event_max || event_max == 0) {
        unexpected(fd, "404 Not Found", "The job is not completed", "NOT_FOUND");
        return;
    }
    char id[ID_LENGTH + 1] = "", body[PENDING_MAX - 512];
    write_id(id, number);
    int length = snprintf(body, sizeof body, "{\"data\":{\"jobId\":\"%s\",%s", id, results_tail);
    if (!answer(fd, "200 OK", "application/json", body, (size_t)length)) return;
    job->results = now_ns();
    counts->results++;
}

// A complete head stands in the buffer, ended by a zero; `body` begins behind it.
static void handle_request(int fd, char *head, char *body, size_t received) {
    static const char path[] = "/v3/jobs/scans", lookup[] = "POST /api/v2/books/enrich ";
    struct connection *c = &connections[fd];
    size_t length;
    const char *value = header(head, "Connection", &length);
    c->closes = length == 5 && strncasecmp(value, "close", 5) == 0;
    value = header(head, "Content-Length", &length);
    c->body_left = length > 0 ? strtoull(value, NULL, 10) : 0;
    size_t device_length;
    const char *device = header(head, "X-Device-ID", &device_length);
    if (strncmp(head, lookup, sizeof lookup - 1) == 0 && device_length == ID_LENGTH && received == c->body_left) {
        answer_lookup(fd, body);
        return;
    }
    char *target = strchr(head, ' ');
    if (!target || strncmp(target + 1, path, sizeof path - 1) != 0 || device_length != ID_LENGTH) {
        unexpected(fd, "400 Bad Request", "Not a request of the journey", "INVALID_REQUEST");
        return;
    }
    char *rest = target + 1 + sizeof path - 1;
    if (strncmp(head, "POST ", 5) == 0 && *rest == ' ' && received <= c->body_left && c->body_left > 0) {
        begin_upload(fd, device, body, received);
        return;
    }
    if (received > 0 || c->body_left > 0 || *rest != '/') {
        unexpected(fd, "400 Bad Request", "Not a request of the journey", "INVALID_REQUEST");
        return;
    }
    rest++;
    uint32_t number = strnlen(rest, ID_LENGTH) < ID_LENGTH ? JOBS_MAX : (uint32_t)strtoul(rest + 24, NULL, 16);
    char id[ID_LENGTH], bearer[7 + TOKEN_LENGTH] = "Bearer ";
    if (number < job_count) write_id(id, number);
    if (number >= job_count || memcmp(rest, id, ID_LENGTH) != 0) {
        // The question before a load is also one for an unknown job.
        counts->unknown_jobs++;
        refuse(fd, "404 Not Found", "Unknown job", "NOT_FOUND");
        return;
    }
    struct job *job = &jobs[number];
    write_token(bearer + 7, number);
    value = header(head, "Authorization", &length);
    if (length != sizeof bearer || memcmp(value, bearer, length) != 0 || memcmp(device, job->device, ID_LENGTH) != 0) {
        unexpected(fd, "401 Unauthorized", "Not the token of the job", "INVALID_TOKEN");
        return;
    }
    rest += ID_LENGTH;
    bool is_get = strncmp(head, "GET ", 4) == 0;
    if (is_get && strncmp(rest, "/stream ", 8) == 0) {
        c->job = number;
        open_stream(fd, job);
    } else if (is_get && strncmp(rest, "/results?format=lite ", 21) == 0) {
        send_results(fd, number);
    } else if (strncmp(head, "DELETE ", 7) == 0 && strncmp(rest, "/cleanup ", 9) == 0 && job->deleted == 0) {
        job->deleted = now_ns();
        counts->journeys += job->results != 0;
        answer(fd, "204 No Content", "", "", 0);
    } else {
        unexpected(fd, "405 Method Not Allowed", "Not a request of the journey", "METHOD_NOT_ALLOWED");
    }
}

static void receive_head(int fd) {
    struct connection *c = &connections[fd];
    ssize_t count = recv(fd, c->buffer + c->used, HEAD_MAX - 1 - c->used, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
        if (c->used > 0) counts->errors++;
        close_connection(fd);
        return;
    }
    if (c->used == 0) c->first_byte = now_ns();
    c->used += (uint32_t)count;
    c->buffer[c->used] = 0;
    char *end = strstr(c->buffer, "\r\n\r\n");
    if (!end) {
        if (c->used == HEAD_MAX - 1) {
            counts->errors++;
            close_connection(fd);
        }
        return;
    }
    // The last line of the head keeps its end.
    char head[HEAD_MAX], *body = end + 4;
    size_t length = (size_t)(end + 2 - c->buffer), received = (size_t)(c->buffer + c->used - body);
    memcpy(head, c->buffer, length);
    head[length] = 0;
    c->used = 0;
    handle_request(fd, head, body, received);
}

static void receive_body(int fd) {
    static char discarded[256 * 1024];
    struct connection *c = &connections[fd];
    size_t room = c->body_left < sizeof discarded ? (size_t)c->body_left : sizeof discarded;
    ssize_t count = recv(fd, discarded, room, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
        counts->errors++;
        close_connection(fd);
        return;
    }
    size_t wanted = BODY_START - c->used;
    if (wanted > (size_t)count) wanted = (size_t)count;
    memcpy(c->buffer + c->used, discarded, wanted);
    c->used += (uint32_t)wanted;
    c->body_left -= (size_t)count;
    if (c->body_left == 0) finish_upload(fd);
}

// A stream brings nothing from the client but its end.
static void receive_during_stream(int fd) {
    char byte;
    ssize_t count = recv(fd, &byte, 1, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count > 0) counts->errors++;
    close_connection(fd);
}

static void flush(int fd) {
    struct connection *c = &connections[fd];
    ssize_t sent = send(fd, c->pending + c->pending_from, c->pending_to - c->pending_from, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
        close_connection(fd);
        return;
    }
    c->pending_from += (uint32_t)sent;
    if (c->pending_from < c->pending_to) return;
    c->pending_from = c->pending_to = 0;
    watch(fd, false);
    if (c->state == STREAM && c->waits) {
        c->waits = false;
        enqueue(fd, now_ns());
    }
}

static void accept_all(int listener) {
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (fd >= DESCRIPTORS_MAX) {
            counts->errors++;
            close(fd);
            continue;
        }
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct connection *c = &connections[fd];
        c->state = HEAD;
        c->used = c->pending_from = c->pending_to = 0;
        c->closes = c->waits = false;
        counts->connections++;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
    }
    if (errno != EAGAIN && errno != ECONNABORTED) counts->errors++;
}

// MARK: Start and end

static void prepare_results(void) {
    size_t used = (size_t)snprintf(results_tail, sizeof results_tail, "\"results\":[");
    for (uint32_t book = 0; book < book_count; book++)
        used += (size_t)snprintf(
            results_tail + used, sizeof results_tail - used,
            "%s{\"author\":\"Author %u\",\"confidence\":0.95,\"coverUrl\":\"https://covers.example/97800000000%02u.jpg\","
            "\"enrichmentStatus\":\"success\",\"isbn\":\"%s\",\"title\":\"Book %u\"}",
            book ? "," : "", book + 1, book, "9780306406157", book + 1);
    used += (size_t)snprintf(
        results_tail + used, sizeof results_tail - used, "],\"status\":\"completed\"},\"success\":true}");
    results_tail_length = used;
}

static void write_jobs(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) fail(path);
    // Times are in nanoseconds since `start`, which is CLOCK_MONOTONIC.
    fprintf(file, "# start %" PRIu64 "\njob\tfirst_byte\tposted\taccepted\tstream\tresults\tdeleted\tevents\n", start_ns);
    for (uint32_t number = 0; number < job_count; number++) {
        struct job *job = &jobs[number];
        char id[ID_LENGTH + 1] = "";
        write_id(id, number);
        fprintf(
            file, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", id,
            job->first_byte, job->posted, job->accepted, job->stream, job->results, job->deleted);
        for (int event = 0; event < EVENT_TIMES && job->events[event]; event++)
            fprintf(file, "%s%" PRIu64, event ? "," : "", job->events[event]);
        fputc('\n', file);
    }
    if (fclose(file) != 0) fail(path);
}

static void *reserve(size_t count, size_t size) {
    void *memory = mmap(
        NULL, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    return memory;
}

static struct counts *map_counts(const char *path) {
    if (!path) return reserve(1, sizeof(struct counts));
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(struct counts)) < 0) fail(path);
    void *memory = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) fail(path);
    close(fd);
    return memory;
}

static int listen_on(uint16_t port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 16384) < 0) fail("listen");
    getsockname(fd, (struct sockaddr *)&address, &length);
    printf("listening http://127.0.0.1:%u\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

static void stop(int signal) {
    (void)signal;
    is_over = 1;
}

int main(int argc, char **argv) {
    uint16_t port = 0;
    const char *counts_path = NULL, *jobs_path = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *option = argv[i], *value = argv[i + 1];
        if (!strcmp(option, "--port")) port = (uint16_t)atoi(value);
        else if (!strcmp(option, "--gap-us")) gap_ns = strtoull(value, NULL, 10) * 1000;
        else if (!strcmp(option, "--events")) event_max = (uint32_t)atoi(value);
        else if (!strcmp(option, "--books")) book_count = (uint32_t)atoi(value);
        else if (!strcmp(option, "--ping-ms")) ping_ns = strtoull(value, NULL, 10) * 1000000;
        else if (!strcmp(option, "--counts")) counts_path = value;
        else if (!strcmp(option, "--jobs")) jobs_path = value;
        else argc = 0;
    }
    if (argc % 2 == 0 || book_count > 12) {
        fprintf(stderr, "usage: see the beginning of server.c\n");
        return 64;
    }
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    start_ns = 0;
    start_ns = now_ns();
    secret = mix(start_ns);
    connections = reserve(DESCRIPTORS_MAX, sizeof *connections);
    jobs = reserve(JOBS_MAX, sizeof *jobs);
    queue = reserve(DESCRIPTORS_MAX, sizeof *queue);
    counts = map_counts(counts_path);
    counts->start = start_ns;
    prepare_results();
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    poller = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_on(port);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[512];
    if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) < 0) fail("epoll_ctl");
    while (!is_over) {
        uint64_t wait = 100000000;
        if (queue_head != queue_tail) {
            uint64_t now = now_ns(), at = queue[queue_head % DESCRIPTORS_MAX].at;
            if (at < now + wait) wait = at > now ? at - now : 0;
        }
        struct timespec timeout = {0, (long)wait};
        int count = epoll_pwait2(poller, ready, 512, &timeout, NULL);
        if (count < 0 && errno != EINTR) fail("epoll_pwait2");
        send_due();
        for (int i = 0; i < count; i++) {
            int fd = ready[i].data.fd;
            if (fd == listener) {
                accept_all(listener);
                continue;
            }
            struct connection *c = &connections[fd];
            if (c->state != CLOSED && ready[i].events & EPOLLOUT) flush(fd);
            if (!(ready[i].events & ~(uint32_t)EPOLLOUT)) continue;
            if (c->state == HEAD) receive_head(fd);
            else if (c->state == BODY) receive_body(fd);
            else if (c->state == STREAM) receive_during_stream(fd);
        }
    }
    if (jobs_path) write_jobs(jobs_path);
    return 0;
}
