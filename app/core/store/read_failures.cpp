// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/read_failures.h"

#include <mutex>
#include <utility>

namespace rm {

namespace {

struct Failures {
    std::mutex mutex;
    std::optional<Error> first;
    std::function<void(const Error&)> onFailure;
};

Failures& failures() {
    static Failures all;
    return all;
}

} // namespace

void noteReadFailure(const Error& error) {
    Failures& all = failures();
    std::function<void(const Error&)> onFailure;
    {
        const std::lock_guard lock(all.mutex);
        if (all.first)
            return;
        all.first = error;
        onFailure = all.onFailure;
    }
    if (onFailure)
        onFailure(error);
}

std::optional<Error> readFailure() {
    const std::lock_guard lock(failures().mutex);
    return failures().first;
}

void forgetPassingReadFailure() {
    const std::lock_guard lock(failures().mutex);
    if (failures().first && failures().first->code != ErrorCode::kCorrupt)
        failures().first.reset();
}

void whenReadFails(std::function<void(const Error&)> onFailure) {
    std::optional<Error> first;
    {
        const std::lock_guard lock(failures().mutex);
        failures().onFailure = onFailure;
        first = failures().first;
    }
    if (first && onFailure)
        onFailure(*first);
}

} // namespace rm
