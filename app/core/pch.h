// SPDX-License-Identifier: GPL-3.0-or-later
// Precompiled: what most files of the engine and of the terminal's commands include of the standard
// library and Qt, which takes half of the time to compile one. Files name what they need all the
// same.
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
