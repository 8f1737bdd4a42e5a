// A reference client for the benchmarks of the live fleet: the journey of many phones with libcurl and epoll, one thread.
//
// It uses libcurl by the same rules as swiftwing-sim (Docs/design.md, section 2), and does nothing else: no plan, no
// storage, no judge. It checks every status, that the stream ends with `completed` for its own job, and that the results are
// books.
//
//   client --port N --photo FILE [--phones N] [--seconds S] [--rate N [--spacing poisson|uniform]] [--ramp N]
//          [--idle 1] [--jobs FILE]
//
// Without --rate the loop is closed: --ramp phones begin in a second, and each begins again at once. With --rate a journey
// begins at its moment, or as soon as a phone is free, and its latency counts from that moment. --idle: each phone opens one
// stream and holds it until SIGTERM. Prints JSON at its end. --jobs is a line for each journey, by CLOCK_MONOTONIC.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    PHONES_PER_MULTI = 300,
    TEXT_MAX = 1536,  // of an answer, and of a line of a stream
    JOURNEYS_MAX = 4000000,
    WAITING_MAX = 1 << 20,  // journeys whose moment has come, and that no phone is free for
    ONE_ADDRESS_PHONES_MAX = 10000,
    SOURCE_ADDRESSES = 16,
    CONNECTIONS_PER_PHONE = 2,
    DESCRIPTORS_MAX = 65536,
};

enum step { FREE, UPLOAD, STREAM, RESULTS, CLEANUP };

struct phone {
    CURL *easy;
    struct multi *multi;
    curl_mime *mime;
    enum step step;
    uint32_t number;
    uint32_t journey;
    bool is_resolved;
    struct curl_slist *connect_to, *resolve, *headers;
    size_t photo_offset;
    // The stream.
    bool is_terminal;
    uint32_t events;
    char kind[16], job[40], token[72], url[128];
    uint32_t used;
    char text[TEXT_MAX];
};

struct multi {
    CURLM *raw;
    uint64_t due;  // 0: never
};

struct journey {
    uint64_t scheduled, started, results;
    char job[37];
};

static struct phone *phones;
static uint32_t phone_count = 100;
static struct multi *multis;
static uint32_t multi_count;
static struct multi *owners[DESCRIPTORS_MAX];
static struct journey *journeys;
static uint32_t journey_count;
// Phones take turns, so that all connections are in use.
static uint32_t *free_phones, free_head, free_tail;
static uint64_t *waiting;
static uint32_t waiting_head, waiting_tail;
static char *photo;
static size_t photo_size;
static int poller, port;
static bool is_idle, is_poisson = true;
static uint64_t begin, end, next_arrival;
static uint64_t ramp_ns = 500000;  // between the first journeys of two phones, 2,000 phones a second
static double rate;
static uint64_t completed, event_count, ping_count, error_count;
static char first_error[200];
static volatile sig_atomic_t is_over;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void wrong(struct phone *phone, const char *what) {
    if (error_count++ == 0) snprintf(first_error, sizeof first_error, "phone %u: %s", phone->number, what);
}

// MARK: Answers

// Copies the text behind `key` up to the next quote.
static bool scan(const char *text, const char *key, char *out, size_t size) {
    const char *from = strstr(text, key);
    if (!from) return false;
    from += strlen(key);
    const char *to = strchr(from, '"');
    if (!to || (size_t)(to - from) >= size) return false;
    memcpy(out, from, (size_t)(to - from));
    out[to - from] = 0;
    return true;
}

static void receive_line(struct phone *phone) {
    const char *line = phone->text;
    if (phone->used == 0) {
        if (phone->kind[0] == 0) return;
        if (strcmp(phone->kind, "ping") == 0) {
            ping_count++;
        } else {
            phone->events++;
            event_count++;
            if (strcmp(phone->kind, "completed") == 0) phone->is_terminal = true;
        }
        phone->kind[0] = 0;
    } else if (strncmp(line, "event: ", 7) == 0) {
        snprintf(phone->kind, sizeof phone->kind, "%.15s", line + 7);
    } else if (strncmp(line, "data: ", 6) == 0) {
        if (strcmp(phone->kind, "ping") != 0 && !strstr(line, phone->job)) wrong(phone, "an event of another job");
    }
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    struct phone *phone = context;
    size_t length = size * count;
    const char *at = bytes, *stop = bytes + length;
    while (at < stop) {
        const char *line_end = phone->step == STREAM ? memchr(at, '\n', (size_t)(stop - at)) : NULL;
        size_t part = (size_t)((line_end ? line_end : stop) - at);
        if (phone->used + part >= TEXT_MAX) {
            wrong(phone, "an answer is too long");
            return 0;
        }
        memcpy(phone->text + phone->used, at, part);
        phone->used += (uint32_t)part;
        phone->text[phone->used] = 0;
        at += part;
        if (line_end) {
            receive_line(phone);
            phone->used = 0;
            at++;
        }
    }
    return length;
}

// MARK: Requests

static size_t read_photo(char *buffer, size_t size, size_t count, void *context) {
    struct phone *phone = context;
    size_t part = size * count, rest = photo_size - phone->photo_offset;
    if (part > rest) part = rest;
    memcpy(buffer, photo + phone->photo_offset, part);
    phone->photo_offset += part;
    return part;
}

static int seek_photo(void *context, curl_off_t offset, int origin) {
    struct phone *phone = context;
    if (origin != SEEK_SET || offset < 0 || (size_t)offset > photo_size) return CURL_SEEKFUNC_CANTSEEK;
    phone->photo_offset = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    struct phone *phone = context;
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol), on = 1;
    if (fd < 0 || phone_count <= ONE_ADDRESS_PHONES_MAX) return fd;
    struct sockaddr_in source = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + phone->number % SOURCE_ADDRESSES)};
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&source, sizeof source) < 0) fail("bind");
    return fd;
}

static void add_header(struct phone *phone, const char *line) {
    phone->headers = curl_slist_append(phone->headers, line);
    if (!phone->headers) fail("curl_slist_append");
}

static void configure(struct phone *phone) {
    CURL *easy = phone->easy = curl_easy_init();
    if (!easy) fail("curl_easy_init");
    char text[128];
    curl_easy_setopt(easy, CURLOPT_PRIVATE, phone);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, phone);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, phone);
    snprintf(text, sizeof text, "::phone-%u.invalid:%d", phone->number, port);
    phone->connect_to = curl_slist_append(NULL, text);
    snprintf(text, sizeof text, "phone-%u.invalid:%d:127.0.0.1", phone->number, port);
    phone->resolve = curl_slist_append(NULL, text);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, phone->connect_to);
    curl_easy_setopt(easy, CURLOPT_RESOLVE, phone->resolve);
}

static void send_request(struct phone *phone, enum step step) {
    CURL *easy = phone->easy;
    char text[160];
    phone->step = step;
    phone->used = 0;
    if (phone->headers) curl_slist_free_all(phone->headers);
    phone->headers = NULL;
    snprintf(text, sizeof text, "X-Device-ID: %08x-0000-4000-8000-000000000000", phone->number);
    add_header(phone, text);
    add_header(phone, step == STREAM ? "Accept: text/event-stream" : "Accept:");
    add_header(phone, "Expect:");
    if (step != UPLOAD) {
        snprintf(text, sizeof text, "Authorization: Bearer %s", phone->token);
        add_header(phone, text);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, phone->headers);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, step == STREAM ? 1024L : 16384L);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 32768L);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, step == CLEANUP ? "DELETE" : NULL);
    if (step == UPLOAD) {
        phone->photo_offset = 0;
        phone->mime = curl_mime_init(easy);
        curl_mimepart *part = curl_mime_addpart(phone->mime);
        curl_mime_name(part, "photos[]");
        curl_mime_filename(part, "photo.jpg");
        curl_mime_type(part, "image/jpeg");
        curl_mime_data_cb(part, (curl_off_t)photo_size, read_photo, seek_photo, NULL, phone);
        curl_easy_setopt(easy, CURLOPT_MIMEPOST, phone->mime);
        snprintf(text, sizeof text, "http://127.0.0.1:%d/v3/jobs/scans", port);
    } else {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        if (step == STREAM)
            snprintf(text, sizeof text, "http://127.0.0.1:%d%s", port, phone->url);
        else
            snprintf(
                text, sizeof text, "http://127.0.0.1:%d/v3/jobs/scans/%s/%s", port, phone->job,
                step == RESULTS ? "results?format=lite" : "cleanup");
    }
    curl_easy_setopt(easy, CURLOPT_URL, text);
    if (curl_multi_add_handle(phone->multi->raw, easy) != CURLM_OK) fail("curl_multi_add_handle");
}

// MARK: Journeys

static void start(struct phone *phone, uint64_t scheduled) {
    if (journey_count == JOURNEYS_MAX) {
        wrong(phone, "too many journeys");
        is_over = 1;
        return;
    }
    phone->journey = journey_count++;
    phone->events = 0;
    phone->is_terminal = false;
    phone->kind[0] = phone->job[0] = 0;
    journeys[phone->journey].scheduled = scheduled;
    journeys[phone->journey].started = now_ns();
    send_request(phone, UPLOAD);
}

static void stop(struct phone *phone) {
    phone->step = FREE;
    free_phones[free_tail++ % phone_count] = phone->number;
}

// What follows the request that is over. Any failure ends the journey.
static void advance(struct phone *phone, CURLcode result) {
    struct journey *journey = &journeys[phone->journey];
    long status = 0;
    curl_easy_getinfo(phone->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!phone->is_resolved) {
        // The multi handle remembers the address.
        curl_easy_setopt(phone->easy, CURLOPT_RESOLVE, NULL);
        curl_slist_free_all(phone->resolve);
        phone->resolve = NULL;
        phone->is_resolved = true;
    }
    if (phone->step == UPLOAD) {
        curl_easy_setopt(phone->easy, CURLOPT_MIMEPOST, NULL);
        curl_mime_free(phone->mime);
    }
    static const long expected[] = {[UPLOAD] = 202, [STREAM] = 200, [RESULTS] = 200, [CLEANUP] = 204};
    phone->text[phone->used] = 0;
    if (result != CURLE_OK) {
        wrong(phone, curl_easy_strerror(result));
    } else if (status != expected[phone->step]) {
        wrong(phone, "an unexpected status");
    } else if (phone->step == UPLOAD) {
        if (scan(phone->text, "\"jobId\":\"", phone->job, sizeof phone->job)
            && scan(phone->text, "\"authToken\":\"", phone->token, sizeof phone->token)
            && scan(phone->text, "\"sseUrl\":\"", phone->url, sizeof phone->url)) {
            memcpy(journey->job, phone->job, sizeof journey->job - 1);
            send_request(phone, STREAM);
            return;
        }
        wrong(phone, "an upload's answer without job, token or stream");
    } else if (phone->step == STREAM) {
        if (phone->is_terminal) {
            send_request(phone, RESULTS);
            return;
        }
        wrong(phone, "a stream without a terminal event");
    } else if (phone->step == RESULTS) {
        if (strstr(phone->text, "\"results\":[{") && strstr(phone->text, "\"title\":\"")
            && strstr(phone->text, phone->job)) {
            journey->results = now_ns();
            send_request(phone, CLEANUP);
            return;
        }
        wrong(phone, "results without books");
    } else {
        completed++;
    }
    uint64_t now = now_ns();
    if (rate == 0 && !is_idle && now < end && !is_over) {
        start(phone, now);
    } else {
        stop(phone);
    }
}

static void act(struct multi *multi, curl_socket_t fd, int readiness) {
    int running, left;
    if (fd == CURL_SOCKET_TIMEOUT) multi->due = 0;
    curl_multi_socket_action(multi->raw, fd, readiness, &running);
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi->raw, &left))) {
        struct phone *phone;
        CURLcode result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &phone);
        curl_multi_remove_handle(multi->raw, message->easy_handle);
        advance(phone, result);
    }
}

static int watch(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_context) {
    (void)easy;
    struct epoll_event event = {.data.fd = fd};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(poller, EPOLL_CTL_DEL, fd, &event);
        owners[fd] = NULL;
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    struct multi *multi = context;
    bool is_known = socket_context != NULL;
    if (!is_known) {
        owners[fd] = multi;
        curl_multi_assign(multi->raw, fd, multi);
    }
    if (epoll_ctl(poller, is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) < 0) fail("epoll_ctl");
    return 0;
}

static int set_timer(CURLM *raw, long milliseconds, void *context) {
    (void)raw;
    struct multi *multi = context;
    multi->due = milliseconds < 0 ? 0 : now_ns() + (uint64_t)milliseconds * 1000000u;
    return 0;
}

static void schedule_next(void) {
    double gap = 1e9 / rate;
    if (is_poisson) gap *= -log(1 - drand48());
    next_arrival += (uint64_t)gap;
}

static void start_arrivals(uint64_t now) {
    while (next_arrival <= now && next_arrival < end && !is_over) {
        if (waiting_tail - waiting_head == WAITING_MAX) fail("too many journeys wait");
        waiting[waiting_tail++ % WAITING_MAX] = next_arrival;
        schedule_next();
    }
    while (waiting_head != waiting_tail && free_head != free_tail)
        start(&phones[free_phones[free_head++ % phone_count]], waiting[waiting_head++ % WAITING_MAX]);
}

// Everything that is under way is finished before the end.
static int wait_for(struct epoll_event *ready, int max, uint64_t ns) {
    static bool is_old;  // callgrind does not know the newer call
    struct timespec timeout = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    int count = is_old ? -1 : epoll_pwait2(poller, ready, max, &timeout, NULL);
    if (count < 0 && (is_old || errno == ENOSYS)) {
        is_old = true;
        count = epoll_wait(poller, ready, max, (int)((ns + 999999) / 1000000));
    }
    if (count < 0 && errno != EINTR) fail("epoll");
    return count;
}

static void run(void) {
    struct epoll_event ready[512];
    uint32_t opened = 0;
    for (;;) {
        uint64_t now = now_ns();
        while (rate == 0 && opened < phone_count && !is_over && (is_idle || now < end) && begin + opened * ramp_ns <= now) {
            opened++;
            start(&phones[free_phones[free_head++ % phone_count]], now);
        }
        if (rate > 0) start_arrivals(now);
        bool accepts = !is_over && (is_idle || now < end);
        bool has_ended = free_tail - free_head == phone_count && waiting_head == waiting_tail;
        if (!accepts && (is_idle || has_ended)) return;
        uint64_t wake = now + 100000000u;
        if (rate > 0 && next_arrival < wake && accepts) wake = next_arrival;
        if (rate == 0 && accepts && opened < phone_count && begin + opened * ramp_ns < wake)
            wake = begin + opened * ramp_ns;
        for (uint32_t i = 0; i < multi_count; i++)
            if (multis[i].due && multis[i].due < wake) wake = multis[i].due;
        int count = wait_for(ready, 512, wake > now ? wake - now : 0);
        for (int i = 0; i < count; i++) {
            struct multi *multi = owners[ready[i].data.fd];
            if (!multi) continue;
            uint32_t events = ready[i].events;
            int readiness = (events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0)
                | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) | (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
            act(multi, ready[i].data.fd, readiness);
        }
        now = now_ns();
        for (uint32_t i = 0; i < multi_count; i++)
            if (multis[i].due && multis[i].due <= now) act(&multis[i], CURL_SOCKET_TIMEOUT, 0);
    }
}

// MARK: Start and end

static void *reserve(size_t count, size_t size) {
    void *memory = mmap(
        NULL, count * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    return memory;
}

static void read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) < 0) fail(path);
    photo_size = (size_t)ftell(file);
    rewind(file);
    photo = malloc(photo_size);
    if (!photo || fread(photo, 1, photo_size, file) != photo_size) fail(path);
    fclose(file);
}

static void prepare(void) {
    multi_count = (phone_count + PHONES_PER_MULTI - 1) / PHONES_PER_MULTI;
    multis = calloc(multi_count, sizeof *multis);
    phones = reserve(phone_count, sizeof *phones);
    free_phones = reserve(phone_count, sizeof *free_phones);
    journeys = reserve(JOURNEYS_MAX, sizeof *journeys);
    waiting = reserve(WAITING_MAX, sizeof *waiting);
    for (uint32_t i = 0; i < multi_count; i++) {
        CURLM *raw = multis[i].raw = curl_multi_init();
        curl_multi_setopt(raw, CURLMOPT_MAXCONNECTS, (long)(PHONES_PER_MULTI * CONNECTIONS_PER_PHONE + 8));
        curl_multi_setopt(raw, CURLMOPT_SOCKETFUNCTION, watch);
        curl_multi_setopt(raw, CURLMOPT_SOCKETDATA, &multis[i]);
        curl_multi_setopt(raw, CURLMOPT_TIMERFUNCTION, set_timer);
        curl_multi_setopt(raw, CURLMOPT_TIMERDATA, &multis[i]);
    }
    for (uint32_t i = 0; i < phone_count; i++) {
        struct phone *phone = &phones[i];
        phone->number = i;
        phone->multi = &multis[i % multi_count];
        configure(phone);
        free_phones[free_tail++] = i;
    }
}

static void write_jobs(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file) fail(path);
    fprintf(file, "job\tscheduled\tstarted\tresults\n");
    for (uint32_t i = 0; i < journey_count; i++)
        fprintf(
            file, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", journeys[i].job, journeys[i].scheduled,
            journeys[i].started, journeys[i].results);
    if (fclose(file) != 0) fail(path);
}

static void end_by_signal(int signal) {
    (void)signal;
    is_over = 1;
}

int main(int argc, char **argv) {
    const char *photo_path = NULL, *jobs_path = NULL;
    double seconds = 10;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *option = argv[i], *value = argv[i + 1];
        if (!strcmp(option, "--port")) port = atoi(value);
        else if (!strcmp(option, "--photo")) photo_path = value;
        else if (!strcmp(option, "--phones")) phone_count = (uint32_t)atoi(value);
        else if (!strcmp(option, "--seconds")) seconds = atof(value);
        else if (!strcmp(option, "--rate")) rate = atof(value);
        else if (!strcmp(option, "--spacing")) is_poisson = strcmp(value, "uniform") != 0;
        else if (!strcmp(option, "--ramp")) ramp_ns = (uint64_t)(1e9 / atof(value));
        else if (!strcmp(option, "--idle")) is_idle = atoi(value) != 0;
        else if (!strcmp(option, "--jobs")) jobs_path = value;
        else argc = 0;
    }
    if (argc % 2 == 0 || port == 0 || !photo_path || phone_count == 0) {
        fprintf(stderr, "usage: see the beginning of client.c\n");
        return 64;
    }
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    struct sigaction action = {.sa_handler = end_by_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    curl_global_init(CURL_GLOBAL_ALL);
    read_file(photo_path);
    poller = epoll_create1(EPOLL_CLOEXEC);
    prepare();
    srand48(1);
    begin = now_ns();
    end = begin + (uint64_t)(seconds * 1e9);
    next_arrival = begin;
    if (rate > 0) schedule_next();
    run();
    printf(
        "{\"journeys\": %" PRIu64 ", \"events\": %" PRIu64 ", \"pings\": %" PRIu64 ", \"errors\": %" PRIu64
        ", \"firstError\": \"%s\"}\n",
        completed, event_count, ping_count, error_count, first_error);
    if (jobs_path) write_jobs(jobs_path);
    return error_count > 0;
}
