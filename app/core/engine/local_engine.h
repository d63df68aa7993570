// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/checkpoints/checkpoint_copier.h"
#include "app/core/engine/engine.h"
#include "app/core/fleet/fleet.h"
#include "app/core/launch/host_worker.h"
#include "app/core/store/store_writer.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rm {

struct Paths;
struct PlacedParty;
struct ProcedureContext;
class CancelToken;

/// The engine of the process that holds the database: every blocking step runs on its worker
/// threads. What it can be asked is in app/core/engine/requests; what it consists of is in parts.h.
class LocalEngine : public Engine {
    Q_OBJECT
public:
    /// `writer` null (for tests that only read a database): nothing is ingested, launched or
    /// edited.
    LocalEngine(const Paths& paths, Fleet& fleet, std::unique_ptr<StoreWriter> writer,
                QObject* parent = nullptr);
    ~LocalEngine() override;

    /// Where passwords and trusted fingerprints come from; none by default. Before any other call.
    void setCredentialSource(CredentialSource source);

    QString databasePath() const override;
    void post(EngineRequest request, Done done) override;
    void attach(const QString& run) override;
    void attachAll() override;
    LiveState live(const QString& run) const override;
    QStringList ownLaunches() const override;

    /// attach() to a run whose ranks were started here just now.
    void followStarted(const QString& run);

    // The parts with which requests are performed.

    struct Parts;
    Parts& parts() { return *m_parts; }

    /// kNotFound: it is not in the list of nodes.
    Result<Node> find(const QString& node) const;
    Result<std::vector<PlacedParty>> place(const std::vector<Placement>& placements) const;
    /// On which nodes the run can be resumed.
    Result<std::vector<PlacedParty>> placeOf(const RunSummary& run) const;
    Result<RunSummary> summary(const QString& run) const;
    /// kUnavailable: this process cannot write the database.
    Result<void> canWrite(const std::string& attempt) const;

    ProcedureContext procedureContext(std::shared_ptr<CancelToken> token);
    /// The context of what only the end of this program cancels.
    ProcedureContext closingContext();

    /// The answer comes when the database has it.
    QFuture<Result<void>> edit(const std::string& attempt,
                               std::function<Result<void>(StoreWriter&)> edit);
    /// edit() that nobody waits for: a problem is reported by failed().
    void postEdit(const QString& run, std::function<Result<void>(StoreWriter&)> edit);
    /// Stores a command that has its answer, or is about to be sent.
    void noteCommand(const QString& run, const RequestedCommand& requested);
    void noteCommandState(const QString& run, CommandKind kind, const CommandState& state,
                          RequestedState as);

private:
    CheckpointCopier::Means copyingMeans();
    void follow(const QString& run, bool wasStarted);
    void forgetOldTrash();

    std::unique_ptr<Parts> m_parts;
};

} // namespace rm
