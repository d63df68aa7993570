// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/memory_file.h"
#include "app/core/remote/ssh_config.h"
#include "app/core/remote/ssh_link.h"
#include "app/core/remote/ssh_tokens.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// A key of a line of known_hosts.
struct KnownKey {
    std::string file; ///< or "KnownHostsCommand"
    int line = 0;
    std::string type;        ///< "ssh-ed25519"
    std::string base64;      ///< the public key, as the line has it
    std::string fingerprint; ///< "SHA256:..."
    bool isRevoked = false;  ///< @revoked: a host that shows it is to be refused
};

/// What a text in the form of known_hosts has of one host.
struct KnownLines {
    std::vector<KnownKey> keys;
    /// A line that trusts an authority for certificates of hosts, which libssh does not know:
    /// "FILE line N". Empty: there is none for this host.
    std::string authority;
};

/// The lines of `text` that are of the host `name`; those that cannot be read are left out.
KnownLines knownLinesIn(std::string_view text, const std::string& name, const std::string& source);

/// What this computer knows of the key of one host, found where OpenSSH finds it: in all files of
/// UserKnownHostsFile and GlobalKnownHostsFile and by KnownHostsCommand, under HostKeyAlias where
/// there is one; and, where the first of the user's files takes no keys (/dev/null, a read-only
/// disk), in a file of Ringmaster's own. libssh looks into two files under the host's own name
/// alone, so it is given a file that holds what was found. Used by one thread.
class KnownHosts {
public:
    KnownHosts(const SshLink& link, const SshConfig& config, SshTokens tokens);

    /// Reads the files and shows the keys to libssh, which then asks the host for one of their
    /// types. To be called before the connection is made. kDenied: KnownHostsCommand failed.
    Result<void> prepare(SshLink& link, const std::stop_token& stop);
    /// Asks KnownHostsCommand, if there is one, for keys like the one that the host showed.
    Result<void> askAbout(SshLink& link, const KnownKey& shown, const std::stop_token& stop);

    /// As the files have it: "gpu-box", "[gpu-box]:2222", or the alias.
    const std::string& name() const { return m_name; }
    const std::vector<KnownKey>& keys() const { return m_keys; }
    const std::string& authority() const { return m_authority; } ///< see KnownLines
    /// What revokes the key: "FILE line N" of known_hosts, or the list RevokedHostKeys; empty:
    /// nothing. kDenied: the list cannot be read, so that no key can be trusted.
    Result<std::string> revokedBy(const KnownKey& shown, const std::stop_token& stop) const;

    /// Appends the key to the first of UserKnownHostsFile, or to Ringmaster's own file.
    Result<void> add(const KnownKey& key) const;

private:
    Result<void> ask(const char* reason, const KnownKey& key, const std::stop_token& stop);
    void read(const std::string& file);
    std::string keeper() const;
    Result<std::optional<bool>> revokedInText(const KnownKey& shown) const;
    void take(const std::string& source, std::string_view text);
    Result<void> show(SshLink& link);

    SshConfig::HostKeys m_settings;
    SshTokens m_tokens;
    std::string m_name;
    std::vector<KnownKey> m_keys;
    std::string m_authority;
    MemoryFile m_shown; ///< libssh reads it at the connection and at the check
};

/// "SHA256:..." of a public key; empty: it has none.
std::string fingerprintOf(ssh_key key);

} // namespace rm
