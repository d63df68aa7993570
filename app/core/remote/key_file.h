// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"
#include "app/core/remote/ssh_config.h"
#include "app/core/remote/ssh_link.h"
#include "app/core/remote/ssh_tokens.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rm {

using SshKey = std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)>;

/// A file that may hold a private key for a login.
struct KeyFile {
    std::string path;
    SshKey key{nullptr, &ssh_key_free};        ///< null: it cannot be used
    SshKey publicHalf{nullptr, &ssh_key_free}; ///< null: not known without the passphrase
    /// The certificate that lies beside it, as in id_ed25519-cert.pub, and the key with it;
    /// null: none does, or the key cannot be used.
    SshKey certificate{nullptr, &ssh_key_free};
    SshKey certified{nullptr, &ssh_key_free};
    bool isLocked = false; ///< the passphrase that is known does not open it
    std::string problem;   ///< "PATH cannot be read: ...", of one that is no key; empty: none
};

/// Keys for one login.
struct KeyFiles {
    std::optional<KeyFile> ofNode; ///< tried before the SSH agent
    std::vector<KeyFile> others;   ///< those that ssh_config names, else the usual ones that exist
    bool areUsual = false;         ///< the others
    bool isAgentLimited = false;   ///< to the public halves of these files
    std::string agentSocket;       ///< empty: there is none
};

/// Reads them. A file that somebody named and that cannot be used has a problem, as has a usual one
/// that is there.
KeyFiles loadKeyFiles(const SshConfig& config, const Node& node, const SshTokens& tokens,
                      const Credentials& credentials);

std::vector<std::string> problemsOf(const KeyFiles& files);
/// Those that are worth a word after a login: not of a file whose public half alone is here, as
/// where the SSH agent has the key.
std::vector<std::string> problemsAtLogin(const KeyFiles& files);

/// The socket of the SSH agent, that of SSH_AUTH_SOCK unless ssh_config names another; empty: there
/// is none.
std::string agentSocket(const SshConfig& config);

} // namespace rm
