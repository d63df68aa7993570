// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_text.h"

#include "app/cli/terminal.h"

namespace rm::cli {

std::string lastFigures(StoreReader& reader, const QString& run,
                        const std::vector<const MetricDef*>& metrics) {
    std::string text;
    for (const MetricDef* metric : metrics)
        if (const auto last = reader.lastPoint(run, {metric->name, 0}))
            text += "  " + metric->name.substr(metric->name.find('/') + 1) + " " +
                    formatNumber(last->value);
    return text;
}

std::string progressText(const Progress& progress) {
    std::string text = progress.stage.toStdString();
    if (progress.total <= 0)
        return text;
    const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
    text += "  " + progressBar(share, kBarWidth) + "  " +
            formatBytes(static_cast<double>(progress.sent)) + " sent";
    if (progress.bytesPerSec >= 0)
        text += ", " + formatBytes(progress.bytesPerSec) + "/s";
    if (progress.secondsLeft >= 0)
        text += ", " + formatDuration(progress.secondsLeft) + " left";
    return text;
}

} // namespace rm::cli
