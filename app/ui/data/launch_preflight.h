// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/ui/data/app_context.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <map>
#include <optional>
#include <vector>

namespace rm {

/// What the chosen nodes report about the run that is being edited. A node is asked again whenever
/// a setting that its answer depends on changes; one request at a time per node. GUI thread.
class LaunchPreflight : public QObject {
    Q_OBJECT
public:
    explicit LaunchPreflight(const AppContext& context, QObject* parent = nullptr);

    /// Sets the launch to ask about. Nodes are asked after a short delay, while this is active.
    void set(const RunSpec& spec, const std::vector<Placement>& nodes);
    void setActive(bool active); ///< while it is visible; old answers are requested again
    void askAgain();

    /// The answer of a chosen node; nullopt: it has not come yet.
    std::optional<Result<NodePreflight>> of(const QString& node) const;
    /// What they say together, once each has answered and nothing prevents the launch there.
    std::optional<Result<std::vector<CheckRow>>> together() const;
    bool isAsking() const;
    /// "12 s ago", of the oldest answer; empty: there is none.
    QString age() const;

    /// Ranks by chosen node and the device of all, by placeRanks(); check()'s error while the spec
    /// is unsound, kUnavailable while a node has not answered, kNotFound for what the problems of a
    /// cluster tell.
    struct Ranks {
        std::vector<int> byNode;
        std::string device;
    };
    Result<Ranks> ranks() const;
    /// How long its steps would take, by the newest similar run; nullopt: there is none.
    std::optional<double> seconds() const { return m_seconds; }

Q_SIGNALS:
    void changed();

private:
    struct Question {
        std::vector<std::string> train, validation;
        std::string tokenizerFile, startFrom;
        bool stage = false;
        std::string device, runtime;
        std::vector<std::string> sbatch;      ///< which name the partition of a cluster
        std::string folder, onExisting, name; ///< whose checkpoints lie where it saves
        bool operator==(const Question&) const = default;
    };
    struct Inquiry {
        Question question;
        bool isPending = false;
        std::optional<Result<NodePreflight>> answer;
        QElapsedTimer since; ///< the answer came
    };
    /// What the rows of together() depend on.
    struct TogetherQuestion {
        RunSpec::Checkpoint checkpoint;
        std::string interface;
        int64_t ranks = 0;   ///< on a node
        std::string refused; ///< why, by ranks()
        int64_t checkpointBytes = 0;
        std::vector<Question> byNode;
        std::vector<Placement> nodes;
        bool operator==(const TogetherQuestion&) const = default;
    };
    struct Together {
        TogetherQuestion question;
        bool isPending = false;
        std::optional<Result<std::vector<CheckRow>>> answer;
    };
    RunSpec specFor(const QString& node) const;
    Question question(const QString& node) const;
    void ask();
    void askNode(const QString& node);
    TogetherQuestion togetherQuestion() const;
    bool canAskTogether() const;
    void askTogether();
    void askHowLong();

    AppContext m_context;
    RunSpec m_spec;
    std::vector<Placement> m_nodes;
    std::map<QString, Inquiry> m_inquiries;
    Together m_together;
    std::optional<double> m_seconds;
    QTimer m_soon;
    bool m_active = false;
    int m_generation = 0; ///< of askHowLong()
};

} // namespace rm
