// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/lineage.h"

#include "app/core/findings/text.h"
#include "app/core/runs/live_spec.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <map>
#include <set>

namespace rm {

namespace {

using Specs = std::map<QString, std::optional<RunSpec>>;

const RunSpec* specOf(StoreReader& reader, Specs& specs, const QString& run) {
    auto known = specs.find(run);
    if (known == specs.end()) {
        auto spec = parseRunSpec(reader.specToml(run), run.toStdString());
        known = specs.emplace(run, spec ? std::optional(std::move(*spec)) : std::nullopt).first;
    }
    return known->second ? &*known->second : nullptr;
}

std::vector<SettingChange> changesBetween(const RunSpec* from, const RunSpec* to) {
    std::vector<SettingChange> changes;
    if (!from || !to)
        return changes;
    for (const SchemaRow& row : schemaRows()) {
        const auto text = [&](const RunSpec& spec) {
            return usesField(spec, row) ? valueText(row, spec) : std::string();
        };
        if (row.key != "name" && text(*from) != text(*to))
            changes.push_back({std::string(row.key), text(*from), text(*to)});
    }
    return changes;
}

/// What was set while attempts trained, in order.
void addSettings(StoreReader& reader, const QString& run, const RunSpec* spec,
                 std::vector<LineageAttempt>& attempts) {
    if (!spec)
        return;
    RunSpec now = *spec;
    for (const StoredSettings& set : reader.settings(run)) {
        const RunSpec then = liveSpec(*spec, set.values);
        const auto attempt = std::ranges::find(attempts, set.attempt, &LineageAttempt::attempt);
        for (SettingChange& change : changesBetween(&now, &then)) {
            change.afterStep = set.step;
            if (attempt != attempts.end())
                attempt->changes.push_back(std::move(change));
        }
        now = then;
    }
}

std::vector<LineageAttempt> attemptsOf(StoreReader& reader, const QString& run,
                                       const RunSpec* spec) {
    std::vector<LineageAttempt> attempts;
    for (const StoredAttempt& attempt : reader.attempts(run))
        if (attempt.hasStarted)
            attempts.push_back({attempt.attempt});
    for (const StoredLine& line : reader.lines(run)) {
        const auto attempt = std::ranges::find(attempts, line.attempt, &LineageAttempt::attempt);
        if (attempt != attempts.end())
            attempt->lines.push_back(line);
    }
    addSettings(reader, run, spec, attempts);
    return attempts;
}

/// The run from which it comes through all its branches, as far as that is stored.
QString rootOf(const std::map<QString, RunSummary>& runs, QString run) {
    std::set<QString> seen; // a database can be damaged
    for (auto at = runs.find(run); at != runs.end() && seen.insert(run).second;
         at = runs.find(run)) {
        if (!runs.contains(at->second.parentRun))
            break;
        run = at->second.parentRun;
    }
    return run;
}

class LineageReader {
public:
    LineageReader(StoreReader& reader, const std::vector<RunSummary>& runs)
        : m_reader(reader) {
        for (const RunSummary& run : runs)
            m_branches[run.parentRun].push_back(run);
        for (auto& [parent, branches] : m_branches)
            std::ranges::sort(branches, {}, [](const RunSummary& run) {
                return std::pair(run.parentStep, run.createdNs);
            });
    }

    void add(const RunSummary& run, std::optional<size_t> parent, int depth) {
        if (!m_seen.insert(run.id).second)
            return;
        const RunSpec* spec = specOf(m_reader, m_specs, run.id);
        LineageRun next{run, parent, depth};
        if (parent)
            next.changes =
                changesBetween(specOf(m_reader, m_specs, m_lineage[*parent].run.id), spec);
        next.attempts = attemptsOf(m_reader, run.id, spec);
        const size_t place = m_lineage.size();
        m_lineage.push_back(std::move(next));
        for (const RunSummary& branch : m_branches[run.id])
            add(branch, place, depth + 1);
    }

    std::vector<LineageRun> take() { return std::move(m_lineage); }

private:
    StoreReader& m_reader;
    Specs m_specs;
    std::map<QString, std::vector<RunSummary>> m_branches; ///< by parent
    std::set<QString> m_seen;
    std::vector<LineageRun> m_lineage;
};

} // namespace

std::vector<LineageRun> readLineage(StoreReader& reader, const std::vector<QString>& chosen) {
    const auto snapshot = reader.snapshot();
    const std::vector<RunSummary> runs = reader.runs();
    std::map<QString, RunSummary> byId;
    for (const RunSummary& run : runs)
        byId.emplace(run.id, run);
    LineageReader lineage(reader, runs);
    for (const QString& run : chosen)
        if (const auto root = byId.find(rootOf(byId, run)); root != byId.end())
            lineage.add(root->second, std::nullopt, 0);
    return lineage.take();
}

std::string changeWords(const SettingChange& change) {
    const auto text = [](const std::string& value) {
        return value.empty() ? std::string("–") : plainLine(value);
    };
    const std::string words = change.key + " " + text(change.from) + " → " + text(change.to);
    return change.afterStep > 0
               ? say("run.changed-after",
                     {{"change", words}, {"step", std::to_string(change.afterStep)}})
               : words;
}

} // namespace rm
