// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/json_view.h"

#include "app/core/store/attempts.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"
#include "app/core/store/stored_checkpoint.h"
#include "shared/exit_code.h"

#include <cmath>
#include <iostream>

namespace rm::cli {

namespace {

using Json = nlohmann::ordered_json;

Json orNull(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

double secondsOf(int64_t wallNs) {
    return static_cast<double>(wallNs) / 1e9;
}

const char* stateName(CheckRow::State state) {
    switch (state) {
    case CheckRow::State::kGood:
        return "good";
    case CheckRow::State::kWarning:
        return "warning";
    case CheckRow::State::kBad:
        return "bad";
    }
    return "bad";
}

const char* requestedFromName(RequestedFrom from) {
    switch (from) {
    case RequestedFrom::kWindow:
        return "window";
    case RequestedFrom::kTerminal:
        return "terminal";
    case RequestedFrom::kRule:
        return "rule";
    case RequestedFrom::kRun:
        return "run";
    case RequestedFrom::kElsewhere:
        break;
    }
    return "elsewhere";
}

} // namespace

Json toJson(const RunSummary& run) {
    Json nodes = Json::array();
    for (const RunNode& node : run.nodes)
        nodes.push_back({{"name", node.nodeName}, {"ranks", node.ranks}});
    Json unreachable = Json::array();
    for (const LostNode& node : run.lostNodes)
        unreachable.push_back(
            {{"name", node.nodeName}, {"since", secondsOf(node.sinceNs)}, {"message", node.why}});
    Json tags = Json::array();
    for (const QString& tag : run.tags)
        tags.push_back(tag.toStdString());
    return {
        {"id", run.id.toStdString()},
        {"name", run.name.toStdString()},
        {"state", runStateName(run.state)},
        {"held", run.held},
        {"killed", wasKilled(run)},
        {"steps", run.step},
        {"total_steps", run.totalSteps},
        {"ranks", run.ranks},
        {"attempt", run.attempt},
        {"nodes", nodes},
        {"unreachable", unreachable},
        {"presumed", run.isPresumed},
        {"unread", run.unreadNodes},
        {"loss", orNull(run.loss)},
        {"validation_loss", orNull(run.validationLoss)},
        {"created", secondsOf(run.createdNs)},
        {"updated", secondsOf(run.updatedNs)},
        {"deleted", run.deletedNs > 0 ? Json(secondsOf(run.deletedNs)) : Json(nullptr)},
        {"message", run.message.toStdString()},
        {"tags", tags},
        {"notes", run.notes.toStdString()},
        {"queue_place", run.queuePlace > 0 ? Json(run.queuePlace) : Json(nullptr)},
        {"sweep", run.sweep.isEmpty() ? Json(nullptr) : Json(run.sweep.toStdString())},
        {"starred", run.isStarred},
        {"archived", run.isArchived},
        {"parent_run", run.parentRun.isEmpty() ? Json(nullptr) : Json(run.parentRun.toStdString())},
        {"parent_step", run.parentRun.isEmpty() ? Json(nullptr) : Json(run.parentStep)}};
}

namespace {

Json copiesOf(const StoredCheckpoint& checkpoint) {
    Json copies = Json::array();
    for (const CheckpointCopy& copy : checkpoint.copies)
        copies.push_back(
            {{"node", copy.node}, {"folder", copy.folder}, {"copied", secondsOf(copy.wallNs)}});
    return copies;
}

} // namespace

Json toJson(const StoredCheckpoint& checkpoint) {
    const CheckpointSaved& saved = checkpoint.saved;
    return {{"step", saved.step},
            {"path", saved.path},
            {"bytes", saved.bytes},
            {"reason", saved.reason},
            {"validation_loss", orNull(saved.validationLoss)},
            {"best", checkpoint.isBest},
            {"saved", secondsOf(saved.wallNs)},
            {"attempt", checkpoint.attempt},
            {"damaged", checkpoint.isDamaged},
            {"pinned", checkpoint.isPinned},
            {"node", checkpoint.node},
            {"removed", checkpoint.removed},
            {"verified",
             checkpoint.verifiedNs ? Json(secondsOf(checkpoint.verifiedNs)) : Json(nullptr)},
            {"copies", copiesOf(checkpoint)},
            {"retired_by", checkpoint.retiredBy ? Json(checkpoint.retiredBy) : Json(nullptr)}};
}

Json toJson(const StoredLine& line) {
    Json out = {{"attempt", line.attempt},
                {"first_step", line.firstStep},
                {"last_step", line.lastStep},
                {"retired_by", nullptr},
                {"retired_at", nullptr}};
    if (line.retiredBy) {
        out["retired_by"] = line.retiredBy;
        out["retired_at"] = line.retiredAt;
    }
    return out;
}

Json toJson(const StoredAttempt& attempt) {
    Json out = {{"attempt", attempt.attempt},
                {"start_step", attempt.startStep},
                {"started", secondsOf(attempt.startedNs)},
                {"start_from", attempt.startFrom},
                {"runtime", attempt.runtime},
                {"trainer", attempt.identity.trainer},
                {"data", attempt.identity.data},
                {"outcome", nullptr},
                {"message", ""}};
    if (attempt.ended) {
        out["outcome"] = outcomeName(attempt.ended->outcome);
        out["message"] = attempt.ended->message;
    }
    return out;
}

Json toJson(const StoredRank& rank) {
    Json out = {{"rank", rank.rank},
                {"node_index", rank.nodeIndex},
                {"pid", rank.pid},
                {"step", rank.step},
                {"exit", nullptr}};
    if (rank.exited)
        out["exit"] = {{"code", rank.exited->exitCode},
                       {"name", exitCodeName(rank.exited->exitCode)},
                       {"signal", rank.exited->signal},
                       {"message", rank.exited->message},
                       {"tail", rank.exited->tail}};
    return out;
}

Json toJson(const StoredEvent& event) {
    return {{"time", secondsOf(event.event.wallNs)},
            {"severity", severityName(event.event.severity)},
            {"code", event.event.code},
            {"attempt", event.attempt},
            {"rank", event.event.rank},
            {"step", event.event.step},
            {"message", event.event.message}};
}

Json toJson(const RequestedCommand& command) {
    Json args = Json::object();
    for (const auto& [name, value] : command.args)
        args[name] = value;
    const auto time = [](int64_t wallNs) {
        return wallNs > 0 ? Json(secondsOf(wallNs)) : Json(nullptr);
    };
    return {{"id", command.id},
            {"command", command.kind},
            {"arguments", args},
            {"by", command.by.who},
            {"from", requestedFromName(command.by.from)},
            {"asked", time(command.requestedNs)},
            {"state", requestedStateName(command.state)},
            {"accepted", time(command.acceptedNs)},
            {"answered", time(command.answeredNs)},
            {"step", command.step < 0 ? Json(nullptr) : Json(command.step)},
            {"answer", command.answer}};
}

Json toJson(const Warned& warned) {
    Json out = toJson(warned.newest);
    out["count"] = warned.count;
    return out;
}

Json toJson(const RunCost& cost) {
    return {{"hours", cost.hours},         {"rank_hours", cost.rankHours},
            {"gpus", cost.isOnGpus},       {"kwh", orNull(cost.kWh)},
            {"price", orNull(cost.price)}, {"nodes_without_price", cost.unpriced}};
}

Json toJson(const Node& node) {
    return {{"name", node.name},          {"local", node.isLocal},
            {"ssh_host", node.sshHost},   {"user", node.user},
            {"port", node.port},          {"identity_file", node.identityFile},
            {"jump_host", node.jumpHost}, {"groups", node.groups},
            {"gpus", node.gpus},          {"environment", node.environment},
            {"notes", node.notes},        {"price_per_hour", node.pricePerHour},
            {"slurm", node.isSlurm},      {"sbatch", node.sbatch}};
}

Json toJson(const PastCheck& check) {
    Json out = {{"checked", secondsOf(check.checkedNs)},
                {"ready", check.ready},
                {"problem", check.problem},
                {"changes", check.changes}};
    out["report"] = check.report ? Json::parse(rm::toJson(*check.report)) : Json(nullptr);
    return out;
}

Json toJson(const SshOffer& offer) {
    return {{"name", offer.node.sshHost}, {"host", offer.route.host},  {"user", offer.route.user},
            {"port", offer.route.port},   {"jump_host", offer.passes}, {"key", offer.route.keyFile},
            {"known_as", offer.known},    {"problem", offer.problem}};
}

namespace {

const char* actionName(CheckAction::Kind kind) {
    switch (kind) {
    case CheckAction::Kind::kCopyCommand:
        return "copy-command";
    case CheckAction::Kind::kEndLeftovers:
        return "end-leftovers";
    case CheckAction::Kind::kTrustHostKey:
        return "trust-host-key";
    case CheckAction::Kind::kEnterSecret:
        return "enter-secret";
    case CheckAction::Kind::kSelfTest:
        return "self-test";
    case CheckAction::Kind::kRemoveAgents:
        return "remove-agents";
    }
    Q_UNREACHABLE();
}

} // namespace

Json toJson(const CheckRow& row) {
    Json out = {{"id", row.id},       {"state", stateName(row.state)},
                {"title", row.title}, {"evidence", row.evidence},
                {"cause", row.cause}, {"fix", row.fix},
                {"action", nullptr}};
    if (row.action)
        out["action"] = {{"kind", actionName(row.action->kind)},
                         {"label", row.action->label},
                         {"argument", row.action->argument}};
    return out;
}

Json toJson(const LaunchCheck& check) {
    Json rows = Json::array();
    for (const CheckRow& row : check.rows)
        rows.push_back(toJson(row));
    return {{"ready", check.isReady}, {"rows", rows}};
}

Json toJson(const NodeCheck& check) {
    Json rows = Json::array();
    for (const CheckRow& row : check.rows)
        rows.push_back(toJson(row));
    Json out = {{"name", check.node}, {"ready", check.ready}, {"rows", rows}};
    out["report"] = check.report ? Json::parse(rm::toJson(*check.report)) : Json(nullptr);
    return out;
}

Json toJson(const RunSummary& run, const Verdict& verdict) {
    const Pace& pace = verdict.pace;
    auto findings = Json::array();
    for (const Slowdown& slowdown : verdict.slowdowns) {
        Json out = {
            {"share", slowdown.share},
            {"speed_up", slowdown.speedUp},
            {"rank", slowdown.rank >= 0 ? Json(slowdown.rank) : Json(nullptr)},
            {"slow_in", slowdown.cause ? Json(slowCauseName(*slowdown.cause)) : Json(nullptr)}};
        out.update(toJson(slowdown.row));
        out.erase("action");
        findings.push_back(std::move(out));
    }
    const auto known = [](bool is, double value) { return is ? Json(value) : Json(nullptr); };
    const bool isMeasured = pace.steps > 0;
    return {{"run", run.id.toStdString()},
            {"steps", pace.steps},
            {"first_step", isMeasured ? Json(pace.firstStep()) : Json(nullptr)},
            {"last_step", isMeasured ? Json(pace.lastStep) : Json(nullptr)},
            {"step_ms", known(isMeasured, pace.stepMs)},
            {"data_ms", known(isMeasured && pace.hasPhases, pace.dataMs)},
            {"compute_ms", known(isMeasured && pace.hasPhases, pace.workMs)},
            {"communication_ms", known(isMeasured && pace.hasPhases, pace.exposedMs)},
            {"mfu", orNull(pace.mfu)},
            {"findings", std::move(findings)},
            {"not_known", verdict.unknowns}};
}

Json toJson(const Error& error) {
    return {{"error", {{"code", errorCodeName(error.code)}, {"message", error.message}}}};
}

void printJson(const Json& json) {
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
}

} // namespace rm::cli
