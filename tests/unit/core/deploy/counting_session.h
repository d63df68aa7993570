// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"

namespace rm {

/// Counts what goes to a host's programs and how many are started.
class CountingSession : public HostSession {
public:
    explicit CountingSession(std::unique_ptr<HostSession> inner)
        : m_inner(std::move(inner)) {}

    Result<std::unique_ptr<HostProcess>> start(const std::string& program,
                                               const std::vector<std::string>& arguments,
                                               std::stop_token stop) override {
        return counted(m_inner->start(program, arguments, std::move(stop)));
    }
    Result<std::unique_ptr<HostProcess>> startScript(const std::string& script,
                                                     std::stop_token stop) override {
        return counted(m_inner->startScript(script, std::move(stop)));
    }
    std::string where() const override { return m_inner->where(); }

    int64_t bytesSent = 0;
    int started = 0;

private:
    class Process : public HostProcess {
    public:
        Process(std::unique_ptr<HostProcess> inner, int64_t& bytesSent)
            : m_inner(std::move(inner))
            , m_bytesSent(bytesSent) {}
        Result<Bytes> read(std::chrono::milliseconds timeout, const Waker* waker) override {
            return m_inner->read(timeout, waker);
        }
        Result<void> write(std::span<const std::byte> bytes) override {
            m_bytesSent += static_cast<int64_t>(bytes.size());
            return m_inner->write(bytes);
        }
        Result<void> closeWrite() override { return m_inner->closeWrite(); }
        Result<int> exitCode(std::chrono::milliseconds timeout) override {
            return m_inner->exitCode(timeout);
        }
        std::string errorText() const override { return m_inner->errorText(); }

    private:
        std::unique_ptr<HostProcess> m_inner;
        int64_t& m_bytesSent;
    };

    Result<std::unique_ptr<HostProcess>> counted(Result<std::unique_ptr<HostProcess>> process) {
        ++started;
        if (!process)
            return process;
        return std::make_unique<Process>(std::move(*process), bytesSent);
    }

    std::unique_ptr<HostSession> m_inner;
};

} // namespace rm
