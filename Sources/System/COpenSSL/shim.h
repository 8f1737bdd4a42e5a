#pragma once
// Much of OpenSSL's interface is macros, which Swift cannot call, and some of it is variadic: a typed function for each.
#include <stdint.h>
#include <string.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static inline int shim_context_require_tls12(SSL_CTX *context) {
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

/// Sessions are resumed by the tickets of clients only, and none is negotiated anew on a connection.
static inline void shim_context_keep_no_sessions(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/// An idle connection has no buffers.
static inline void shim_context_release_buffers(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
}

static inline int shim_context_add_issuer(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int shim_select_http1(
    SSL *ssl, const unsigned char **chosen, unsigned char *count, const unsigned char *offered, unsigned offered_count,
    void *context
) {
    static const unsigned char http1[] = "http/1.1";
    (void)ssl;
    (void)context;
    for (unsigned start = 0; start < offered_count; start += 1u + offered[start]) {
        if (offered[start] != sizeof http1 - 1 || offered_count - start < sizeof http1) continue;
        if (memcmp(offered + start + 1, http1, sizeof http1 - 1) != 0) continue;
        *chosen = offered + start + 1;
        *count = sizeof http1 - 1;
        return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// Answers a client that offers protocols by ALPN with HTTP/1.1, and ends the handshake if that is not among them (RFC 7301
/// section 3.2).
static inline void shim_context_speak_http1(SSL_CTX *context) {
    SSL_CTX_set_alpn_select_cb(context, shim_select_http1, NULL);
}

/// Offers HTTP/1.1 by ALPN, and accepts what a client accepts by default: chains up to any certificate that is trusted, also
/// one that is not its own issuer.
static inline int shim_context_be_http1_client(SSL_CTX *context) {
    static const unsigned char offered[] = "\x08http/1.1";
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
    // Without a store of its own: who owns a connection asks it for its session.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    return SSL_CTX_set_alpn_protos(context, offered, sizeof offered - 1) == 0;
}

/// A name that is sent to the server for it to choose its certificate (RFC 6066 section 3).
static inline int shim_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

/// The unread bytes of a memory BIO; they stay there.
static inline size_t shim_bio_contents(BIO *bio, const uint8_t **bytes) {
    char *start = NULL;
    long count = BIO_get_mem_data(bio, &start);
    *bytes = (const uint8_t *)start;
    return count > 0 ? (size_t)count : 0;
}

static inline void shim_bio_clear(BIO *bio) { (void)BIO_reset(bio); }

static inline EVP_PKEY *shim_make_p256_key(void) { return EVP_EC_gen("P-256"); }

/// Adds an extension in the notation of openssl's configuration files (x509v3_config). The issuer is the certificate itself
/// if it signs itself.
static inline int shim_certificate_add_extension(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    if (!extension) return 0;
    int is_added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return is_added;
}
