// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/tls.h"

#include "shared/io/json.h"

#include <openssl/ssl.h>

#include <array>
#include <cstring>

namespace rm {

namespace {

using Bytes = std::array<unsigned char, 32>;

/// The key of a context, for its callbacks. OpenSSL frees it with the context.
struct RunKey {
    std::string runId;
    Bytes bytes = {};
};

void freeRunKey(void*, void* key, CRYPTO_EX_DATA*, int, long, void*) {
    delete static_cast<RunKey*>(key);
}

int keySlot() {
    static const int slot = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, freeRunKey);
    return slot;
}

const RunKey& keyOf(const SSL* ssl) {
    return *static_cast<RunKey*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), keySlot()));
}

unsigned char digit(char c) {
    return static_cast<unsigned char>(c <= '9' ? c - '0' : c - 'a' + 10);
}

Bytes bytesOf(const std::string& hex) {
    Bytes bytes;
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<unsigned char>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    return bytes;
}

/// A session with TLS_AES_128_GCM_SHA256, whose hash is that of the key.
SSL_SESSION* sessionOf(SSL* ssl, const RunKey& key) {
    static constexpr unsigned char kCipher[] = {0x13, 0x01};
    const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kCipher);
    SSL_SESSION* session = SSL_SESSION_new();
    if (cipher && session &&
        SSL_SESSION_set1_master_key(session, key.bytes.data(), key.bytes.size()) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
        return session;
    SSL_SESSION_free(session);
    return nullptr;
}

int useSession(SSL* ssl, const EVP_MD*, const unsigned char** id, size_t* idSize,
               SSL_SESSION** session) {
    const RunKey& key = keyOf(ssl);
    *session = sessionOf(ssl, key);
    *id = reinterpret_cast<const unsigned char*>(key.runId.data());
    *idSize = key.runId.size();
    return *session ? 1 : 0;
}

int findSession(SSL* ssl, const unsigned char* id, size_t idSize, SSL_SESSION** session) {
    const RunKey& key = keyOf(ssl);
    const bool isOurs =
        idSize == key.runId.size() && std::memcmp(id, key.runId.data(), idSize) == 0;
    *session = isOurs ? sessionOf(ssl, key) : nullptr;
    return !isOurs || *session ? 1 : 0;
}

} // namespace

Result<std::unique_ptr<asio::ssl::context>> makeRunTls(const std::string& runId,
                                                       const std::string& key) {
    if (!isSha256(key)) // the same form: 64 hex digits
        return fail(ErrorCode::kInvalid, "talk to the run's other agents: the plan has no key");
    auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls);
    SSL_CTX* ssl = context->native_handle();
    auto secret = std::make_unique<RunKey>(RunKey{runId, bytesOf(key)});
    const bool isMade = SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) == 1 &&
                        SSL_CTX_set_num_tickets(ssl, 0) == 1 &&
                        SSL_CTX_set_ciphersuites(ssl, "TLS_AES_128_GCM_SHA256") == 1 &&
                        SSL_CTX_set_ex_data(ssl, keySlot(), secret.get()) == 1;
    if (!isMade)
        return fail(ErrorCode::kInternal,
                    "talk to the run's other agents: OpenSSL refuses TLS 1.3");
    (void)secret.release();
    SSL_CTX_set_psk_use_session_callback(ssl, useSession);
    SSL_CTX_set_psk_find_session_callback(ssl, findSession);
    return context;
}

} // namespace rm
