// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>

#include <thread>

namespace rm {

/// Remembers the thread that made it and aborts when another thread uses it.
class ThreadOwner {
public:
    void enforce() const {
        if (std::this_thread::get_id() != m_owner)
            qFatal("a host session was used from a thread that does not own it");
    }

private:
    std::thread::id m_owner = std::this_thread::get_id();
};

} // namespace rm
