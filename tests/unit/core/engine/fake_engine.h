// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"

#include <map>
#include <utility>
#include <vector>

namespace rm::test {

/// An engine without runs: it keeps what it is asked, answers when a test tells it to, and signals
/// what a test emits. What is not named here is answered at once with the default of its Answer.
class FakeEngine : public Engine {
public:
    QString databasePath() const override { return {}; }
    void post(EngineRequest request, Done done) override {
        std::visit([&](const auto& requested) { perform(requested, done); }, request);
    }
    void attach(const QString& run) override { attached << run; }
    void attachAll() override {}
    LiveState live(const QString& run) const override {
        const auto found = lives.find(run);
        return found == lives.end() ? LiveState() : found->second;
    }

    QString trialAnswer;
    bool trialsTakeLong = false;
    std::vector<NodeTrial> stopped;
    QStringList attached;
    std::vector<std::pair<QString, CommandKind>> commands;
    std::map<QString, QString> notes;
    std::map<QString, LiveState> lives;
    Done start;                        ///< answers the newest launch
    std::vector<MachineNews> machines; ///< what is known of nodes that are looked at
    std::vector<MachineLook> looks;
    std::vector<std::string> left; ///< who does not look any more

private:
    template <class Request>
    void perform(const Request&, const Done& done) {
        done(typename Request::Answer());
    }
    void perform(const LaunchRequest& requested, const Done& done) {
        lives[requested.run].launching = Progress{"Check nodes"};
        start = done;
    }
    void perform(const ResumeRequest&, const Done& done) { start = done; }
    void perform(const CommandRequest& requested, const Done& done) {
        commands.emplace_back(requested.run, requested.kind);
        done(Result<CommandState>(CommandState{{}, CommandProgress::kApplied, 7, {}}));
    }
    void perform(const NotesRequest& requested, const Done& done) {
        notes[requested.run] = requested.notes;
        done(Result<void>());
    }
    void perform(const TrialRequest&, const Done& done) {
        if (trialsTakeLong)
            start = done;
        else
            done(Result<QString>(trialAnswer));
    }
    void perform(const LookAtMachinesRequest& requested, const Done& done) {
        looks.push_back(requested.look);
        std::vector<MachineNews> news;
        for (const MachineQuestion& question : requested.look.questions)
            for (MachineNews each : machines) {
                if (each.node != question.node)
                    continue;
                std::erase_if(each.points, [&question](const MachinePoint& point) {
                    return point.atNs <= question.after;
                });
                news.push_back(std::move(each));
            }
        done(Result<std::vector<MachineNews>>(std::move(news)));
    }
    void perform(const LeaveMachinesRequest& requested, const Done& done) {
        left.push_back(requested.viewer);
        done(Result<void>());
    }
    void perform(const StopTrialRequest& requested, const Done& done) {
        stopped.push_back(requested.trial);
        done(Result<void>());
    }
};

} // namespace rm::test
