// SPDX-License-Identifier: GPL-3.0-or-later
// Precompiled: the headers of the standard library and Qt that most files of the engine and the
// terminal commands include; parsing them is half of a file's compile time. Every file still
// includes what it needs.
#pragma once

#include <QFuture>
#include <QObject>
#include <QString>
#include <QtConcurrent>

#include <tl/expected.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>
