// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/export_log.h"

#include <QDateTime>

#include <cerrno>
#include <fstream>

namespace rm {

namespace {

constexpr int kLinesAtOnce = 10'000;

std::string timeText(int64_t wallNs) {
    return QDateTime::fromMSecsSinceEpoch(wallNs / 1'000'000)
        .toString("yyyy-MM-dd HH:mm:ss")
        .toStdString();
}

} // namespace

Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          std::ostream& out) {
    const std::string attempt = "export the log of " + run.toStdString();
    if (!reader.run(run))
        return fail(ErrorCode::kNotFound, attempt + ": there is no such run");
    int64_t count = 0;
    int64_t last = -1;
    for (;;) {
        const auto lines = reader.log(run, choice.rank, last, kLinesAtOnce, choice.contains);
        for (const LogLine& line : lines)
            out << timeText(line.wallNs) << "  r" << line.rank << "  " << line.text << '\n';
        out.flush();
        if (!out)
            return failErrno(attempt + ": write", errno);
        count += static_cast<int64_t>(lines.size());
        if (lines.size() < static_cast<size_t>(kLinesAtOnce))
            return count;
        last = lines.back().id;
    }
}

Result<int64_t> exportLog(StoreReader& reader, const QString& run, const LogChoice& choice,
                          const QString& path) {
    std::ofstream file(path.toStdString(), std::ios::binary | std::ios::trunc);
    if (!file)
        return failErrno("write " + path.toStdString(), errno);
    return exportLog(reader, run, choice, file);
}

} // namespace rm
