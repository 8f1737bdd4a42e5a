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
static inline CURLcode shim_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
/// For every `…DATA` option, and the error buffer, the private pointer and bytes to post.
static inline CURLcode shim_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
    return curl_easy_setopt(easy, option, value);
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
static inline CURLcode shim_easy_set_seeker(CURL *easy, int (*callback)(void *, curl_off_t, int)) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}
static inline CURLcode shim_easy_set_open_socket(
    CURL *easy, curl_socket_t (*callback)(void *, curlsocktype, struct curl_sockaddr *)
) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
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

/// Appends "name: value", or "name;" without a value. Null when there is no memory; the list is then as it was.
static inline struct curl_slist *shim_list_append_field(
    struct curl_slist *list, const char *name, const char *value
) {
    size_t name_size = strlen(name), value_size = strlen(value);
    char room[512], *line = room;
    if (name_size + value_size + 3 > sizeof room && !(line = malloc(name_size + value_size + 3))) return NULL;
    memcpy(line, name, name_size);
    if (value_size) {
        memcpy(line + name_size, ": ", 2);
        memcpy(line + name_size + 2, value, value_size + 1);
    } else {
        memcpy(line + name_size, ";", 2);
    }
    struct curl_slist *longer = curl_slist_append(list, line);
    if (line != room) free(line);
    return longer;
}

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
