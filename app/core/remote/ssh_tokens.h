// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/ssh_config.h"
#include "app/core/remote/ssh_link.h"

#include <map>
#include <string>

namespace rm {

/// What the %-tokens in values of ssh_config stand for (ssh_config(5), TOKENS), by their letter.
using SshTokens = std::map<char, std::string>;

SshTokens tokensOf(const SshLink& link, const SshConfig& config, const Node& node);

/// `text` with the values of its tokens; one that is not known stays as it is.
std::string expandTokens(const std::string& text, const SshTokens& tokens);

/// Expands "~/..." to $HOME, like all our paths.
std::string underHome(const std::string& path);

} // namespace rm
