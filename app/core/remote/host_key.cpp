// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host_key.h"

#include "app/core/findings/text.h"
#include "app/core/remote/ssh_error.h"
#include "shared/io/file.h"

#include <memory>
#include <sstream>

namespace rm {

namespace {

using Key = std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)>;
using Denial = tl::unexpected<ConnectFailure>;

std::string fingerprintOf(ssh_key key) {
    unsigned char* hash = nullptr;
    size_t length = 0;
    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != SSH_OK)
        return {};
    char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
    ssh_clean_pubkey_hash(&hash);
    std::string fingerprint = text == nullptr ? "" : text;
    ssh_string_free_char(text);
    return fingerprint;
}

std::string typeOf(ssh_key key) {
    return ssh_key_type_to_char(ssh_key_type(key));
}

Key shownKey(const SshLink& link) {
    ssh_key key = nullptr;
    ssh_get_server_publickey(link.get(), &key);
    return {key, &ssh_key_free};
}

/// The name under which known_hosts keeps the host.
std::string knownName(const SshLink& link) {
    const std::string host = link.option(SSH_OPTIONS_HOST);
    return link.port() == 22 ? host : '[' + host + "]:" + std::to_string(link.port());
}

struct KnownKey {
    std::string file;
    int line = 0;
    std::string key; ///< "ssh-ed25519 SHA256:..."
};

/// Where the host's recorded key stands, so that a person can look at it.
std::optional<KnownKey> recordedKey(const SshLink& link, const std::string& file) {
    const auto text = readFile(file);
    if (!text)
        return std::nullopt;
    std::istringstream lines(*text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        ssh_knownhosts_entry* entry = nullptr;
        if (ssh_known_hosts_parse_line(knownName(link).c_str(), line.c_str(), &entry) != SSH_OK)
            continue;
        KnownKey known{file, number,
                       typeOf(entry->publickey) + ' ' + fingerprintOf(entry->publickey)};
        ssh_knownhosts_entry_free(entry);
        return known;
    }
    return std::nullopt;
}

Denial deny(const Error& error, ConnectFailure::Need need = ConnectFailure::Need::kNothing,
            const std::string& fingerprint = {}) {
    return Denial(ConnectFailure{error, need, fingerprint, ConnectFailure::Cause::kHostKey});
}

/// The error of a connection that this key forbids.
Error denied(const SshLink& link, const std::string& why) {
    const std::string attempt = say("ssh.connect", {{"where", link.where()}});
    return failAs(attempt, {ErrorCode::kDenied, why}).value();
}

std::string whyChanged(const SshLink& link, const std::string& shown) {
    for (const ssh_options_e which : {SSH_OPTIONS_KNOWNHOSTS, SSH_OPTIONS_GLOBAL_KNOWNHOSTS})
        if (const auto known = recordedKey(link, link.option(which)))
            return say("ssh.key-changed", {{"shown", shown},
                                           {"file", known->file},
                                           {"line", std::to_string(known->line)},
                                           {"known", known->key},
                                           {"command", "ssh-keygen -R '" + knownName(link) +
                                                           "' -f '" + known->file + '\''}});
    return say("ssh.key-changed-somewhere", {{"shown", shown}});
}

/// First contact: a person decides about exactly this key.
tl::expected<void, ConnectFailure> meet(const SshLink& link, const std::string& type,
                                        const std::string& fingerprint,
                                        const std::optional<std::string>& trusted) {
    if (trusted && *trusted == fingerprint) {
        if (ssh_session_update_known_hosts(link.get()) == SSH_OK)
            return {};
        const std::string file = link.option(SSH_OPTIONS_KNOWNHOSTS);
        return deny(sshError(link, say("ssh.write-file", {{"file", file}})));
    }
    const Value ofType{"type", type}, shown{"fingerprint", fingerprint};
    return deny(denied(link, trusted ? say("ssh.key-not-confirmed",
                                           {ofType, shown, {"confirmed", *trusted}})
                                     : say("ssh.key-unknown", {ofType, shown})),
                ConnectFailure::Need::kTrustHostKey, fingerprint);
}

} // namespace

tl::expected<void, ConnectFailure> checkHostKey(SshLink& link,
                                                const std::optional<std::string>& trusted) {
    const Key key = shownKey(link);
    if (!key)
        return deny(denied(link, say("ssh.no-key-shown")));
    const std::string type = typeOf(key.get());
    const std::string fingerprint = fingerprintOf(key.get());
    if (fingerprint.empty())
        return deny(denied(link, say("ssh.no-fingerprint")));
    switch (ssh_session_is_known_server(link.get())) {
    case SSH_KNOWN_HOSTS_OK:
        // Known, but not the key that a person says the host has.
        if (trusted && *trusted != fingerprint)
            return deny(denied(link, say("ssh.key-not-given", {{"shown", type + ' ' + fingerprint},
                                                               {"given", *trusted}})));
        return {};
    case SSH_KNOWN_HOSTS_NOT_FOUND:
    case SSH_KNOWN_HOSTS_UNKNOWN:
        return meet(link, type, fingerprint, trusted);
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
        return deny(denied(link, whyChanged(link, type + ' ' + fingerprint)));
    case SSH_KNOWN_HOSTS_ERROR:
        break;
    }
    const std::string attempt = say("ssh.check-key", {{"where", link.where()}});
    return deny({ErrorCode::kDenied, sshError(link, attempt).message});
}

} // namespace rm
