// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <functional>
#include <optional>

namespace rm {

// What a StoreReader cannot read comes back empty, and is noted here, so that whoever shows it does
// not take it for nothing. Of this process, all readers together. Thread-safe.

void noteReadFailure(const Error& error);

/// The first one.
std::optional<Error> readFailure();

/// Forgets it unless it is damage: who reads the same again and again may find it next time.
void forgetPassingReadFailure();

/// Has that function called with the first failure, at once if it has come already; else on the
/// thread that reads. Empty: nobody is told any more.
void whenReadFails(std::function<void(const Error&)> onFailure);

} // namespace rm
