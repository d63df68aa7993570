// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace rm {

/// Opens the window on the database and fleet of this user and runs until it is closed. What keeps
/// it from opening (another instance, a database from a later release) is shown in a dialog; the
/// value is the program's exit code.
int runWindow(int argc, char** argv);

} // namespace rm
