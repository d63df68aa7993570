// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/trace_file.h"

#include "shared/io/json.h"

#include <QSaveFile>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <ostream>
#include <streambuf>

namespace rm {

namespace {

/// Where the flow of a collective begins and ends.
struct Visit {
    const AlignedRank* rank;
    const TraceSlice* slice;
};

/// Quoted, with what cannot be UTF-8 replaced.
std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string micros(int64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%s%lld.%03lld", ns < 0 ? "-" : "",
                  static_cast<long long>(std::abs(ns) / 1000),
                  static_cast<long long>(std::abs(ns) % 1000));
    return text;
}

class EventWriter {
public:
    EventWriter(const AlignedTrace& trace, std::ostream& out)
        : m_trace(trace)
        , m_out(out) {
        for (const AlignedRank& rank : trace.ranks)
            if (m_nodes.try_emplace(rank.node, static_cast<int>(m_nodes.size()) + 1).second)
                m_nodesInOrder.push_back(rank.node);
    }

    void writeNames() {
        for (const std::string& node : m_nodesInOrder) {
            const std::string pid = std::to_string(m_nodes[node]);
            metadata("process_name", pid, "0", "name", quoted(node.empty() ? "node" : node));
            metadata("process_sort_index", pid, "0", "sort_index", pid);
        }
        for (const AlignedRank& rank : m_trace.ranks) {
            const std::string name = "rank " + std::to_string(rank.rank);
            metadata("thread_name", pidOf(rank), tidOf(rank), "name", quoted(name));
            metadata("thread_sort_index", pidOf(rank), tidOf(rank), "sort_index", tidOf(rank));
        }
    }

    void writeSlices(const AlignedRank& rank) {
        for (const TraceSlice& slice : rank.slices)
            isCollective(slice.kind) ? writeCollective(rank, slice) : writePhase(rank, slice);
    }

    /// From the begin of a collective on the rank that came last to its end on the others.
    void writeFlows() {
        std::map<int64_t, std::vector<Visit>> byNumber;
        for (const AlignedRank& rank : m_trace.ranks)
            for (const TraceSlice& slice : rank.slices)
                if (isCollective(slice.kind))
                    byNumber[slice.number].push_back({&rank, &slice});
        for (const auto& [number, visits] : byNumber) {
            const auto last = std::ranges::max_element(
                visits, {}, [](const Visit& visit) { return visit.slice->beginNs; });
            for (const Visit& visit : visits) {
                if (&visit == &*last)
                    continue;
                const std::string id = std::to_string(++m_flows);
                flow("s", id, *last, last->slice->beginNs);
                flow("f", id, visit, std::max(visit.slice->endNs(), last->slice->beginNs));
            }
        }
    }

    int64_t count() const { return m_count; }

private:
    std::string pidOf(const AlignedRank& rank) { return std::to_string(m_nodes[rank.node]); }
    static std::string tidOf(const AlignedRank& rank) { return std::to_string(rank.rank + 1); }

    void event(const std::string& fields) {
        m_out << (m_count++ == 0 ? "\n{" : ",\n{") << fields << '}';
    }

    void metadata(const char* what, const std::string& pid, const std::string& tid, const char* key,
                  const std::string& value) {
        event(R"("ph":"M","name":")" + std::string(what) + R"(","pid":)" + pid + R"(,"tid":)" +
              tid + R"(,"args":{")" + key + R"(":)" + value + '}');
    }

    std::string placed(const AlignedRank& rank, int64_t ns) {
        return R"(,"pid":)" + pidOf(rank) + R"(,"tid":)" + tidOf(rank) + R"(,"ts":)" + micros(ns);
    }

    void writePhase(const AlignedRank& rank, const TraceSlice& slice) {
        const std::string step = std::to_string(slice.step);
        const bool isStep = slice.kind == TraceKind::kStep;
        const std::string name = isStep ? "step " + step : traceKindName(slice.kind);
        event(R"("ph":"X","cat":")" + std::string(isStep ? "step" : "phase") + R"(","name":")" +
              name + '"' + placed(rank, slice.beginNs) + R"(,"dur":)" + micros(slice.durationNs) +
              R"(,"args":{"step":)" + step + '}');
    }

    void writeCollective(const AlignedRank& rank, const TraceSlice& slice) {
        const std::string id = std::to_string(rank.rank) + "." + std::to_string(slice.number);
        const auto half = [&](const char* phase, int64_t ns, const std::string& more) {
            event(R"("ph":")" + std::string(phase) + R"(","cat":"collective","name":")" +
                  traceKindName(slice.kind) + R"(, rank )" + std::to_string(rank.rank) +
                  R"(","id":")" + id + '"' + placed(rank, ns) + more);
        };
        half("b", slice.beginNs,
             R"(,"args":{"rank":)" + std::to_string(rank.rank) + R"(,"step":)" +
                 std::to_string(slice.step) + R"(,"number":)" + std::to_string(slice.number) +
                 R"(,"bytes":)" + std::to_string(slice.bytes) + '}');
        half("e", slice.endNs(), {});
    }

    void flow(const char* phase, const std::string& id, const Visit& at, int64_t ns) {
        event(R"("ph":")" + std::string(phase) +
              R"(","cat":"collective","name":"waited for","id":)" + id + placed(*at.rank, ns) +
              (*phase == 'f' ? R"(,"bp":"e")" : ""));
    }

    const AlignedTrace& m_trace;
    std::ostream& m_out;
    std::map<std::string, int> m_nodes;
    std::vector<std::string> m_nodesInOrder;
    int64_t m_count = 0;
    int64_t m_flows = 0;
};

/// What a reader of the file should know of it; Perfetto shows it as the trace's metadata.
Json aboutTrace(const RunSummary& run, const AlignedTrace& trace) {
    Json clocks = Json::array();
    for (const AlignedRank& rank : trace.ranks)
        clocks.push_back({{"rank", rank.rank},
                          {"node", rank.node},
                          {"phases_by", rank.onDevice ? "events of the device" : "host clock"},
                          {"offset_ns", rank.clock.offsetNs},
                          {"drift_ppm", rank.clock.drift * 1e6},
                          {"collectives", rank.clock.collectives},
                          {"estimated_error_us", static_cast<double>(rank.clock.errorNs) / 1e3},
                          {"largest_error_us", static_cast<double>(rank.clock.boundNs) / 1e3}});
    return {{"writer", "Ringmaster"},
            {"run", run.id.toStdString()},
            {"name", run.name.toStdString()},
            {"attempt", trace.id.attempt},
            {"first_step", trace.id.firstStep},
            {"begin_unix_ns", trace.wallNs},
            {"whole", trace.isDone()},
            {"clock_alignment", clockWords(trace)},
            {"clocks", clocks}};
}

} // namespace

Result<int64_t> writeTrace(const RunSummary& run, const AlignedTrace& trace, std::ostream& out) {
    out << R"({"displayTimeUnit":"ns","otherData":)"
        << aboutTrace(run, trace).dump(-1, ' ', false, Json::error_handler_t::replace)
        << R"(,"traceEvents":[)";
    EventWriter writer(trace, out);
    writer.writeNames();
    for (const AlignedRank& rank : trace.ranks)
        writer.writeSlices(rank);
    writer.writeFlows();
    out << "\n]}\n";
    out.flush();
    if (!out)
        return failErrno("write the trace of " + run.id.toStdString(), errno);
    return writer.count();
}

namespace {

/// A stream into a file of Qt.
class FileBuffer final : public std::streambuf {
public:
    explicit FileBuffer(QIODevice& file)
        : m_file(file) {}

protected:
    int overflow(int character) override {
        const char byte = static_cast<char>(character);
        return m_file.putChar(byte) ? character : traits_type::eof();
    }
    std::streamsize xsputn(const char* bytes, std::streamsize count) override {
        return m_file.write(bytes, count);
    }

private:
    QIODevice& m_file;
};

} // namespace

Result<int64_t> writeTrace(const RunSummary& run, const AlignedTrace& trace, const QString& path) {
    QSaveFile file(path);
    const auto failed = [&] {
        return fail(ErrorCode::kUnavailable,
                    "write " + path.toStdString() + ": " + file.errorString().toStdString());
    };
    if (!file.open(QIODevice::WriteOnly))
        return failed();
    FileBuffer buffer(file);
    std::ostream out(&buffer);
    const auto written = writeTrace(run, trace, out);
    if (!written || !file.commit())
        return failed();
    return written;
}

} // namespace rm
