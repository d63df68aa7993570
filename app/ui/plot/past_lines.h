// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "app/ui/plot/chart_data.h"

namespace rm {

/// An abandoned line of a run, or the line of its parent, and where its steps are stored.
struct PastLine {
    struct Piece {
        QString run;
        std::optional<StoredLine> line; ///< nullopt: the living one
        int64_t first = 0, last = 0;    ///< inclusive
    };
    Past past = Past::kAbandoned;
    QString brief;
    int attempt = 0;
    std::vector<Piece> pieces; ///< by step; those before firstStep lead up to the line
    int64_t firstStep = 0;
};

/// The abandoned lines of a run and, oldest last, what it was branched from. Worker thread.
std::vector<PastLine> abandonedLines(StoreReader& reader, const QString& run);
std::vector<PastLine> parentLines(StoreReader& reader, const QString& run);

std::vector<Bucket> readBuckets(StoreReader& reader, const PastLine& line, const SeriesKey& key,
                                int64_t firstStep, int64_t lastStep, int maxBuckets);

} // namespace rm
