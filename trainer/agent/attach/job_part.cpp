// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/attach/job_part.h"

#include "shared/io/json.h"
#include "trainer/agent/slurm/job_file.h"
#include "trainer/agent/supervisor/run_state.h"

#include <chrono>
#include <iterator>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kFreshNs =
    15 * kNsPerSecond;                        ///< a state comes each second, over NFS seconds later
constexpr int64_t kHearNs = 5 * kNsPerSecond; ///< to hear of a supervisor that lives
constexpr int64_t kAskNs = 5 * kNsPerSecond;  ///< between questions to Slurm
constexpr int64_t kKillNs = 20 * kNsPerSecond; ///< for supervisors to kill their ranks
constexpr std::chrono::seconds kAnswerTime(40);
constexpr std::chrono::seconds kCancelTime(120);

} // namespace

JobPart::JobPart(asio::io_context& io, std::string runId, std::function<int64_t()> now)
    : m_runId(std::move(runId))
    , m_now(std::move(now))
    , m_begunNs(m_now())
    , m_reader(io)
    , m_canceller(io) {}

RunState JobPart::look() {
    const int64_t nowNs = m_now();
    RunState own = readRunState(".");
    if (own.ended)
        return own;
    if (auto state = m_files.state(); state && (!m_last || state->wallNs != m_last->wallNs)) {
        m_changedNs = m_last ? nowNs : 0;
        m_last = std::move(state);
        m_wasHeard = m_last->attempt >= own.attempt;
    }
    if (m_killedNs > 0 && nowNs - m_killedNs >= kKillNs)
        cancel();
    if (isFresh(nowNs) && m_last->attempt >= own.attempt) {
        m_isWaiting = m_isOver = false;
        m_words.clear();
        return *m_last;
    }
    ask(nowNs);
    own.supervised = !m_isOver;
    own.waitsFor = m_words;
    for (RankState& rank : own.ranks)
        rank.pid = 0; // of another machine
    return own;
}

bool JobPart::isFresh(int64_t nowNs) const {
    return m_changedNs > 0 && nowNs - m_changedNs < kFreshNs;
}

void JobPart::ask(int64_t nowNs) {
    if (m_reader.isBusy() || (m_requestedNs > 0 && nowNs - m_requestedNs < kAskNs))
        return;
    m_requestedNs = nowNs;
    m_reader.run({"job-state", m_runId}, "", kAnswerTime,
                 [this](const std::string& text) { onAnswer(text); });
}

/// Without an answer the state stays as it is: Slurm's controller may be restarted.
void JobPart::onAnswer(const std::string& text) {
    const auto json = parseJson(text, "job-state");
    if (!json)
        return;
    if (const auto problem = textAt(*json, "problem")) {
        m_words = *problem;
        return;
    }
    const auto phase = textAt(*json, "phase");
    m_isWaiting = phase == "waiting";
    m_wasHeard = m_wasHeard && !m_isWaiting; // if so, by the start before this one
    m_isOver = phase == "over";
    m_words = textAt(*json, "words").value_or("");
}

void JobPart::cancel() {
    if (m_canceller.isBusy())
        return;
    m_canceller.run({"stop", m_runId, "--kill"}, "", kCancelTime, [this](const std::string& text) {
        const bool isDone = parseJson(text, "stop").has_value();
        for (const Command& command : std::exchange(m_endings, {}))
            m_answers.push_back(
                {command.id, isDone ? CommandProgress::kApplied : CommandProgress::kRefused, -1,
                 !isDone      ? "its job could not be cancelled; see squeue on the cluster"
                 : m_wasHeard ? "its job was cancelled"
                              : "its job was cancelled before its ranks began"});
    });
}

Result<void> JobPart::forward(const Command& command) {
    const int64_t nowNs = m_now();
    if (endsByCancel(command.kind, nowNs)) {
        m_endings.push_back(command);
        cancel();
        return {};
    }
    if (!isFresh(nowNs))
        return tl::unexpected(silence(command.kind));
    if (command.kind == CommandKind::kKill && m_killedNs == 0)
        m_killedNs = nowNs;
    return m_files.put(command);
}

bool JobPart::endsByCancel(CommandKind kind, int64_t nowNs) const {
    if (!rowOf(kind).endsAttempt || m_isOver || isFresh(nowNs))
        return false;
    // A living supervisor is heard of within a moment after this has begun to look.
    return !m_wasHeard || (kind == CommandKind::kKill && nowNs - m_begunNs >= kHearNs);
}

Error JobPart::silence(CommandKind kind) const {
    std::string words = m_words.empty() ? "nothing is heard of its ranks" : m_words;
    if (rowOf(kind).endsAttempt && !m_isOver) {
        const auto job = loadJobFile("..");
        words += "; to end it without a checkpoint, kill it" +
                 (job && *job ? ", or scancel " + (*job)->id : std::string());
    }
    return {ErrorCode::kUnavailable, words};
}

std::vector<CommandState> JobPart::takeAnswers() {
    std::vector<CommandState> answers = std::exchange(m_answers, {});
    auto written = m_files.takeAnswers();
    std::move(written.begin(), written.end(), std::back_inserter(answers));
    return answers;
}

} // namespace rm
