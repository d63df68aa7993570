// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host_key.h"

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
    std::string place; ///< "/home/me/.ssh/known_hosts line 3"
    std::string file;
    std::string fingerprint;
    std::string type;
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
        KnownKey known{file + " line " + std::to_string(number), file,
                       fingerprintOf(entry->publickey),
                       ssh_key_type_to_char(ssh_key_type(entry->publickey))};
        ssh_knownhosts_entry_free(entry);
        return known;
    }
    return std::nullopt;
}

Denial deny(std::string message) {
    return Denial(ConnectFailure{{ErrorCode::kDenied, std::move(message)},
                                 ConnectFailure::Need::kNothing,
                                 {},
                                 ConnectFailure::Cause::kHostKey});
}

Denial denyChanged(const SshLink& link, const std::string& shown) {
    std::string message = "connect to " + link.where() + ": the host's key is not the one known " +
                          "for it. It shows " + shown;
    for (const ssh_options_e which : {SSH_OPTIONS_KNOWNHOSTS, SSH_OPTIONS_GLOBAL_KNOWNHOSTS}) {
        const auto known = recordedKey(link, link.option(which));
        if (!known)
            continue;
        message += "; " + known->place + " has " + known->type + ' ' + known->fingerprint +
                   ". Either someone is between you and the host, or its key was changed. Ask "
                   "who runs it; if the new key is right, remove the old one with: ssh-keygen "
                   "-R '" +
                   knownName(link) + "' -f '" + known->file + '\'';
        return deny(message);
    }
    return deny(message + ". Nothing was sent to it");
}

/// The denial of a key that is known, but is not the one that a person says the host has.
Denial denyOther(const SshLink& link, const std::string& shown, const std::string& trusted) {
    return deny("connect to " + link.where() + ": its key " + shown +
                " is the one known for it, but not the one that you gave (" + trusted +
                "). Compare both with the machine's own; nothing was sent to it");
}

/// First contact: a person decides about exactly this key.
tl::expected<void, ConnectFailure> meet(const SshLink& link, const std::string& type,
                                        const std::string& fingerprint,
                                        const std::optional<std::string>& trusted) {
    if (trusted && *trusted == fingerprint) {
        if (ssh_session_update_known_hosts(link.get()) == SSH_OK)
            return {};
        return Denial(ConnectFailure{sshError(link, "write " + link.option(SSH_OPTIONS_KNOWNHOSTS)),
                                     ConnectFailure::Need::kNothing,
                                     {},
                                     ConnectFailure::Cause::kHostKey});
    }
    std::string message = "connect to " + link.where() + ": its " + type + " key " + fingerprint +
                          " is not known on this computer";
    if (trusted)
        message += ", and it is not the key that you confirmed (" + *trusted + ')';
    return Denial(ConnectFailure{{ErrorCode::kDenied, message},
                                 ConnectFailure::Need::kTrustHostKey,
                                 fingerprint,
                                 ConnectFailure::Cause::kHostKey});
}

} // namespace

tl::expected<void, ConnectFailure> checkHostKey(SshLink& link,
                                                const std::optional<std::string>& trusted) {
    const Key key = shownKey(link);
    if (!key)
        return deny("connect to " + link.where() + ": the host showed no key");
    const std::string type = ssh_key_type_to_char(ssh_key_type(key.get()));
    const std::string fingerprint = fingerprintOf(key.get());
    if (fingerprint.empty())
        return deny("connect to " + link.where() + ": the host's key has no fingerprint");
    switch (ssh_session_is_known_server(link.get())) {
    case SSH_KNOWN_HOSTS_OK:
        if (trusted && *trusted != fingerprint)
            return denyOther(link, type + ' ' + fingerprint, *trusted);
        return {};
    case SSH_KNOWN_HOSTS_NOT_FOUND:
    case SSH_KNOWN_HOSTS_UNKNOWN:
        return meet(link, type, fingerprint, trusted);
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
        return denyChanged(link, type + ' ' + fingerprint);
    case SSH_KNOWN_HOSTS_ERROR:
        break;
    }
    return deny(sshError(link, "check the key of " + link.where()).message);
}

} // namespace rm
