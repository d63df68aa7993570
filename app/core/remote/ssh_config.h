// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "shared/result.h"

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

/// What ssh_config settles for a node, by `ssh -G`: no other reader than OpenSSH's own knows all of
/// Host, Match and Include.
struct SshConfig {
    std::string hostName;
    std::string settings;  ///< user, port and what is unusual, as lines of an ssh_config
    std::string jumpHosts; ///< ProxyJump, for parseJumpHosts(); empty: none
    std::vector<std::string> identityFiles; ///< those that it names, as written there
    std::string identityAgent;              ///< "none", a path or a variable; empty: SSH_AUTH_SOCK
    bool identitiesOnly = false; ///< no keys but identityFiles, not even of the SSH agent
    std::string addressFamily;   ///< "inet", "inet6"; empty: either
    std::string bindAddress;     ///< of this computer; empty: any
    int leastRsaBits = 0;        ///< RequiredRSASize; 0: as usual
    std::chrono::seconds connectTimeout{0}; ///< 0: as usual
    bool offersKeys = true;                 ///< PubkeyAuthentication, PreferredAuthentications
    /// KexAlgorithms, Ciphers and HostKeyAlgorithms; empty: as usual.
    std::string kexAlgorithms, ciphers, hostKeyAlgorithms;

    /// From where keys of hosts are known, see KnownHosts.
    struct HostKeys {
        std::string alias;   ///< HostKeyAlias; empty: the host's own name
        std::string command; ///< KnownHostsCommand, with its tokens; empty: none
        std::string revoked; ///< RevokedHostKeys, a file; empty: none
        /// Below "~" where it is $HOME.
        std::vector<std::string> userFiles = {"~/.ssh/known_hosts", "~/.ssh/known_hosts2"};
        std::vector<std::string> globalFiles = {"/etc/ssh/ssh_known_hosts",
                                                "/etc/ssh/ssh_known_hosts2"};
        bool areHashed = false; ///< HashKnownHosts: new ones are kept without the host's name
        /// "no" or "accept-new": StrictHostKeyChecking, which is not followed; empty: it asks.
        std::string unasked;
    };
    HostKeys hostKeys;
    /// Settings that neither libssh nor we follow, as `ssh -G` prints them: "pkcs11provider x.so".
    std::vector<std::string> notFollowed;
};

/// Blocks for some milliseconds if there is a file, and 10 s at most where a `Match exec` waits.
/// kUnavailable: ssh is not installed, or `stop`; kInvalid: it refuses the file, or a node of this
/// address.
Result<SshConfig> sshConfigOf(const Node& node, std::stop_token stop = {});

/// The name of the user who runs this program: the user of a node where nothing names one.
std::string loginName();

/// What `ssh -G` printed, without what it prints for a host that no file settles anything of.
SshConfig parseSshConfig(const std::string& printed, const std::string& usual);

} // namespace rm
