#pragma once
// libcurl's setters and getters are variadic, which Swift cannot call: one typed wrapper for each kind of argument.
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

static inline CURLcode shim_easy_set_number(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_size(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
/// Sets the URL up to this offset, and what is behind it as the target of the request.
static inline CURLcode shim_easy_set_url(CURL *easy, const char *url, size_t target) {
    char base[300];
    if (target >= sizeof base) return curl_easy_setopt(easy, CURLOPT_URL, url);
    memcpy(base, url, target);
    base[target] = 0;
    CURLcode code = curl_easy_setopt(easy, CURLOPT_URL, base);
    return code ? code : curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, url + target);
}
static inline CURLcode shim_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
/// For every `…DATA` option, and the error buffer, the private pointer and bytes to post.
static inline CURLcode shim_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode shim_easy_set_mime(CURL *easy, curl_mime *value) {
    return curl_easy_setopt(easy, CURLOPT_MIMEPOST, value);
}

/// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
static inline CURLcode shim_easy_set_receiver(
    CURL *easy, CURLoption option, size_t (*callback)(char *, size_t, size_t, void *)
) {
    return curl_easy_setopt(easy, option, callback);
}
static inline CURLcode shim_easy_set_reader(CURL *easy, size_t (*callback)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, CURLOPT_READFUNCTION, callback);
}
static inline CURLcode shim_easy_set_open_socket(
    CURL *easy, curl_socket_t (*callback)(void *, curlsocktype, struct curl_sockaddr *)
) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}
static inline CURLcode shim_easy_set_connected(CURL *easy, int (*callback)(void *, curl_socket_t, curlsocktype)) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, callback);
}
static inline CURLcode shim_easy_set_close_socket(CURL *easy, int (*callback)(void *, curl_socket_t)) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}
static inline CURLcode shim_easy_set_before_send(CURL *easy, int (*callback)(void *, char *, char *, int, int)) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode shim_easy_number(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode shim_easy_size(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline void *shim_easy_private(CURL *easy) {
    char *value = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value);
    return value;
}

static inline CURLMcode shim_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode shim_multi_set_socket(CURLM *multi, curl_socket_callback callback, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
}
static inline CURLMcode shim_multi_set_timer(CURLM *multi, curl_multi_timer_callback callback, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

/// Header lines in one piece of memory. libcurl reads a list of headers, and neither changes nor frees it.
struct shim_lines {
    void *memory;
    struct curl_slist *first, *last;
    char *room;
    size_t left;
};

/// The memory for a line of this length.
static inline size_t shim_line_size(size_t length) { return sizeof(struct curl_slist) + ((length + 8) & ~(size_t)7); }

/// False when there is no memory.
static inline int shim_lines_make(struct shim_lines *lines, size_t size) {
    memset(lines, 0, sizeof *lines);
    lines->memory = lines->room = malloc(size);
    lines->left = size;
    return lines->memory != NULL;
}

/// Appends the memory for a line of this length, which the caller writes.
static inline char *shim_lines_append(struct shim_lines *lines, size_t length) {
    size_t size = shim_line_size(length);
    if (size > lines->left) abort();
    struct curl_slist *line = (struct curl_slist *)lines->room;
    line->next = NULL;
    line->data = lines->room + sizeof *line;
    line->data[length] = 0;
    if (lines->last) lines->last->next = line; else lines->first = line;
    lines->last = line;
    lines->room += size;
    lines->left -= size;
    return line->data;
}

static inline void shim_lines_append_text(struct shim_lines *lines, const char *text, size_t length) {
    memcpy(shim_lines_append(lines, length), text, length);
}

/// Appends "name: value", or "name;" without a value: "name:" would mean "leave it out".
static inline void shim_lines_append_field(
    struct shim_lines *lines, const char *name, size_t name_size, const char *value, size_t value_size
) {
    char *line = shim_lines_append(lines, name_size + (value_size ? 2 + value_size : 1));
    memcpy(line, name, name_size);
    memcpy(line + name_size, value_size ? ": " : ";", value_size ? 2 : 1);
    memcpy(line + name_size + (value_size ? 2 : 1), value, value_size);
}

static inline void shim_lines_free(struct shim_lines *lines) { free(lines->memory); }

/// The next finished transfer, or null.
static inline CURL *shim_multi_next_finished(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
