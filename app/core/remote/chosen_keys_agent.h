// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/io/descriptor.h"

#include <QByteArray>
#include <QByteArrayList>

#include <memory>
#include <string>
#include <thread>

namespace rm {

/// An SSH agent that hands on to another what it is asked, and names only some of its keys: libssh
/// offers every key that its agent names. It works on a thread of its own, as libssh waits for the
/// answers.
class ChosenKeysAgent {
public:
    /// In front of the agent at `socket`; null: nothing answers there. `keys` as SSH writes public
    /// keys.
    static std::unique_ptr<ChosenKeysAgent> start(const std::string& socket, QByteArrayList keys);
    ~ChosenKeysAgent();
    ChosenKeysAgent(const ChosenKeysAgent&) = delete;
    ChosenKeysAgent& operator=(const ChosenKeysAgent&) = delete;

    /// To talk to it. The caller closes it.
    int takeClientEnd() { return m_client.release(); }

private:
    ChosenKeysAgent(Descriptor agent, Descriptor client, Descriptor server, QByteArrayList keys);
    void serve();

    Descriptor m_agent;
    Descriptor m_client;
    Descriptor m_server;
    QByteArrayList m_keys;
    std::jthread m_thread; ///< last, so that it ends before what it uses
};

/// An agent's list of keys (SSH_AGENT_IDENTITIES_ANSWER, draft-miller-ssh-agent, 4.4) without those
/// that are not among `keys`. Any other message is not changed; of a damaged list nothing is left.
QByteArray withOnly(const QByteArrayList& keys, const QByteArray& message);

} // namespace rm
