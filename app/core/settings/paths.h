// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

namespace rm {

/// Every folder that the app uses, from the XDG variables, so that two instances with different
/// ones never meet.
struct Paths {
    QString config; ///< $XDG_CONFIG_HOME/ringmaster: nodes.toml, settings.ini
    QString data;   ///< $XDG_DATA_HOME/ringmaster: runs.sqlite
    QString state;  ///< $XDG_STATE_HOME/ringmaster: logs; runs/ of this computer as a node
    QString cache;  ///< $XDG_CACHE_HOME/ringmaster

    QString database() const { return data + "/runs.sqlite"; }
    /// What window and terminal keep for the next start.
    QString settings() const { return config + "/settings.ini"; }

    /// From the environment of this process; the folders are not made.
    static Paths fromEnvironment();

    /// Makes the folders for the user alone, and takes the rights of others to them and to the
    /// files in them.
    Result<void> prepare() const;
};

/// The folder that holds recipes/ and schema/: resources/ beside the program when installed or
/// built, else the one compiled in.
QString resourceDir();

/// The folder with bin/ and lib/ that this program runs from: the bundle for this computer.
QString installPrefix();

} // namespace rm
