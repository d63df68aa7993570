// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host_key.h"

#include "app/core/findings/text.h"
#include "app/core/remote/command_line.h"
#include "app/core/remote/ssh_error.h"

#include <memory>

namespace rm {

namespace {

using Key = std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)>;
using Denial = tl::unexpected<ConnectFailure>;
using Connected = tl::expected<void, ConnectFailure>;

std::string typeOf(ssh_key key) {
    return ssh_key_type_to_char(ssh_key_type(key));
}

Key shownKey(const SshLink& link) {
    ssh_key key = nullptr;
    ssh_get_server_publickey(link.get(), &key);
    return {key, &ssh_key_free};
}

std::string base64Of(ssh_key key) {
    char* text = nullptr;
    if (ssh_pki_export_pubkey_base64(key, &text) != SSH_OK)
        return {};
    std::string base64 = text;
    ssh_string_free_char(text);
    return base64;
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

std::string named(const KnownKey& key) {
    return key.type + ' ' + key.fingerprint;
}

/// The one of the shown type, else any that stands in a file.
const KnownKey* otherKey(const KnownHosts& known, const KnownKey& shown) {
    const KnownKey* found = nullptr;
    for (const KnownKey& key : known.keys())
        if (!key.isRevoked && key.file.starts_with('/') && (!found || key.type == shown.type))
            found = &key;
    return found;
}

std::string whyChanged(const KnownHosts& known, const KnownKey& shown) {
    const KnownKey* other = otherKey(known, shown);
    if (!other)
        return say("ssh.key-changed-somewhere", {{"shown", named(shown)}});
    return say("ssh.key-changed", {{"shown", named(shown)},
                                   {"file", other->file},
                                   {"line", std::to_string(other->line)},
                                   {"known", named(*other)},
                                   {"command", "ssh-keygen -R " + quotedForShell(known.name()) +
                                                   " -f " + quotedForShell(other->file)}});
}

/// First contact: a person decides about exactly this key.
Connected meet(const SshLink& link, const KnownHosts& known, const KnownKey& shown,
               const HostKeyWish& wish) {
    if (wish.trusted && *wish.trusted == shown.fingerprint) {
        const auto kept = known.add(shown);
        if (!kept)
            return deny(kept.error());
        return {};
    }
    const Value ofType{"type", shown.type}, fingerprint{"fingerprint", shown.fingerprint};
    std::string why = wish.trusted ? say("ssh.key-not-confirmed",
                                         {ofType, fingerprint, {"confirmed", *wish.trusted}})
                                   : say("ssh.key-unknown", {ofType, fingerprint});
    if (!known.authority().empty())
        append(why, say("ssh.no-authorities", {{"where", known.authority()}}));
    if (!wish.unasked.empty())
        append(why, say("ssh.confirmed-once", {{"value", wish.unasked}}));
    return deny(denied(link, why), ConnectFailure::Need::kTrustHostKey, shown.fingerprint);
}

} // namespace

tl::expected<void, ConnectFailure> checkHostKey(SshLink& link, KnownHosts& known,
                                                const HostKeyWish& wish,
                                                const std::stop_token& stop) {
    const Key key = shownKey(link);
    if (!key)
        return deny(denied(link, say("ssh.no-key-shown")));
    const KnownKey shown{{}, 0, typeOf(key.get()), base64Of(key.get()), fingerprintOf(key.get())};
    if (shown.fingerprint.empty())
        return deny(denied(link, say("ssh.no-fingerprint")));
    const auto asked = known.askAbout(link, shown, stop);
    if (!asked)
        return deny(asked.error());
    const auto revoked = known.revokedBy(shown, stop);
    if (!revoked)
        return deny(revoked.error());
    if (!revoked->empty())
        return deny(
            denied(link, say("ssh.key-revoked", {{"shown", named(shown)}, {"where", *revoked}})));
    switch (ssh_session_is_known_server(link.get())) {
    case SSH_KNOWN_HOSTS_OK:
        // Known, but not the key that a person says the host has.
        if (wish.trusted && *wish.trusted != shown.fingerprint)
            return deny(denied(link, say("ssh.key-not-given",
                                         {{"shown", named(shown)}, {"given", *wish.trusted}})));
        return {};
    case SSH_KNOWN_HOSTS_NOT_FOUND:
    case SSH_KNOWN_HOSTS_UNKNOWN:
        return meet(link, known, shown, wish);
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
        return deny(denied(link, whyChanged(known, shown)));
    case SSH_KNOWN_HOSTS_ERROR:
        break;
    }
    const std::string attempt = say("ssh.check-key", {{"where", link.where()}});
    return deny({ErrorCode::kDenied, sshError(link, attempt).message});
}

} // namespace rm
