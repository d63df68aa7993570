// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_trace.h"
#include "app/core/store/run_summary.h"
#include "shared/result.h"

#include <QString>

#include <iosfwd>

namespace rm {

/// Writes the trace as JSON of the Trace Event Format, which Perfetto (ui.perfetto.dev) and
/// chrome://tracing open: a process for each node, a thread for each rank with its steps and the
/// phases in them, collectives as async slices beside, and flow arrows from the rank that came last
/// into a collective to those that waited. Times are microseconds with three decimals since the
/// trace began. Event by event, so that memory does not grow with the trace. Returns the number of
/// events.
Result<int64_t> writeTrace(const RunSummary& run, const AlignedTrace& trace, std::ostream& out);
/// The same to a file, which is there once it is whole.
Result<int64_t> writeTrace(const RunSummary& run, const AlignedTrace& trace, const QString& path);

} // namespace rm
