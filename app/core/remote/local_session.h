// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"

namespace rm {

/// Processes of this computer, behind the same interface as a host's.
class LocalSession : public HostSession {
public:
    Result<std::unique_ptr<HostProcess>> start(const std::string& program,
                                               const std::vector<std::string>& arguments,
                                               std::stop_token stop) override;
    Result<std::unique_ptr<HostProcess>> startScript(const std::string& fixedScript,
                                                     std::stop_token stop) override;
    std::string where() const override;
    bool isLocal() const override { return true; }
};

} // namespace rm
