// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"

#include <QByteArray>

namespace rm {

using Opened = tl::expected<std::unique_ptr<HostSession>, ConnectFailure>;

/// For a failed QVERIFY2.
inline QByteArray messageOf(const Opened& opened) {
    return opened ? QByteArray("connected")
                  : QByteArray::fromStdString(opened.error().error.message);
}

/// What a program writes until it ends or is silent for 20 s.
inline std::string readAll(HostProcess& process) {
    std::string text;
    for (;;) {
        const auto bytes = process.read(std::chrono::seconds(20));
        if (!bytes || bytes->ended || bytes->data.empty())
            return text;
        text.append(reinterpret_cast<const char*>(bytes->data.data()), bytes->data.size());
    }
}

} // namespace rm
