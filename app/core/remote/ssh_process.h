// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/error_tail.h"
#include "app/core/remote/host.h"
#include "app/core/remote/ssh_link.h"
#include "app/core/remote/start_mark.h"
#include "app/core/remote/thread_owner.h"

#include <libssh/callbacks.h>

#include <optional>

namespace rm {

/// A program on an exec channel. What the login shell prints before it is skipped; a shell that
/// ends, prints without end or takes too long before the program begins is an error of read().
class SshProcess : public HostProcess {
public:
    SshProcess(std::shared_ptr<SshLink> link, std::string name, std::stop_token stop);
    ~SshProcess() override;

    /// Opens the channel and starts the command.
    Result<void> begin(const std::string& commandLine);
    /// begin() failed as the server takes no further program on this link (MaxSessions).
    bool wasRefused() const { return m_wasRefused; }

    Result<Bytes> read(std::chrono::milliseconds timeout, const Waker* waker) override;
    Result<void> write(std::span<const std::byte> bytes) override;
    Result<void> closeWrite() override;
    Result<int> exitCode(std::chrono::milliseconds timeout) override;
    std::string errorText() const override;

private:
    static void onExitStatus(ssh_session, ssh_channel, int status, void* self);
    static void onExitSignal(ssh_session, ssh_channel, const char* signal, int core,
                             const char* message, const char* language, void* self);

    Result<void> takeAll();
    Result<size_t> takePiece(bool ofErrors);
    Result<void> keep(std::string_view piece, bool ofErrors);
    Result<void> checkBegun();
    Result<void> awaitBegun();
    std::string lastLineOfShell() const;
    Result<void> handOn(std::span<const std::byte> bytes);
    Result<size_t> writePiece(std::span<const std::byte> bytes);
    Result<void> waitForTurn(std::chrono::steady_clock::time_point deadline, const char* attempted);
    /// The phrase of that id: "run PROGRAM on WHERE".
    std::string attempt(const char* phrase) const;
    tl::unexpected<Error> failed(const char* attempted, const std::string& why) const;

    ThreadOwner m_owner;
    std::shared_ptr<SshLink> m_link;
    std::string m_name;
    std::stop_token m_stop;
    ssh_channel m_channel = nullptr;
    bool m_wasRefused = false;
    ssh_channel_callbacks_struct m_callbacks{};
    std::optional<int> m_exitStatus;
    std::string m_exitSignal;
    std::chrono::steady_clock::time_point m_requested; ///< when its start was
    std::chrono::steady_clock::time_point m_begunBy;   ///< the login shell must have started it
    StartMark m_outputMark;
    StartMark m_errorMark;
    std::vector<std::byte> m_pending;
    bool m_ended = false;
    ErrorTail m_tail;
};

} // namespace rm
