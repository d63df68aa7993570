// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/agent/node_cleaning.h"
#include "app/core/fleet/fleet.h"
#include "app/core/launch/trial.h"
#include "app/core/machines/machine_watch.h"
#include "app/core/remote/host.h"
#include "shared/result.h"

#include <QFuture>
#include <QString>
#include <QStringList>

#include <string>

namespace rm {

class LocalEngine;

/// The name of MeasureNetworkRequest in Engine::progressed(); no id of a run.
inline constexpr const char* kNetworkMeasurement = "measurement: network";

/// What becomes of a run on a node that another Ringmaster started.
enum class OtherRuns { kRefuse, kEnd };

/// See Fleet::check().
struct CheckRequest {
    using Answer = NodeCheck;

    QString node;
    Credentials credentials;

    std::string attempt() const;
    NodeCheck failed(const Error& error) const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const CheckRequest&) const = default;
};

/// Tells what was deployed to a node (trainers, agents, staged data) and whether a run or process
/// there needs it; removes what nothing needs, unless that is a preview. kInvalid: ranks are being
/// started, and what is young is asked for as well. kUnavailable: all is being removed from it at
/// the moment.
struct CleanNodeRequest {
    using Answer = Result<DeployedReport>;

    QString node;
    NodeCleaning cleaning;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const CleanNodeRequest&) const = default;
};

/// Measures which interfaces of these nodes (none: measuredNodes() of all) reach which of the
/// others, and keeps what was found: see keptNetwork(). Nodes that cannot be reached are named
/// there. Takes some seconds; Engine::progressed() tells its stages. kUnavailable: it is being
/// measured already, or StopNetworkRequest came.
struct MeasureNetworkRequest {
    using Answer = Result<void>;

    QStringList nodes;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const MeasureNetworkRequest&) const = default;
};

/// Ends the measurement that is under way, if there is one, soon.
struct StopNetworkRequest {
    using Answer = Result<void>;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const StopNetworkRequest&) const = default;
};

/// Ends what lives of these runs on a node, as the row "leftovers" of its check found them, and
/// nothing else there. kInvalid: one of them is stored as live, and is stopped or killed as a run,
/// or lives and is not stored here, and that is to be refused: somebody else's run is ended only
/// after a person was asked. Then none is ended.
struct EndLeftoversRequest {
    using Answer = Result<void>;

    QString node;
    QStringList runs;
    OtherRuns others = OtherRuns::kRefuse;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const EndLeftoversRequest&) const = default;
};

/// Lets the trainer find something out on nodes, without a run (see runTrial()): the JSON of the
/// answer. An all-reduce test is kept, too (link_test.h). Engine::progressed() tells how far it is.
struct TrialRequest {
    using Answer = Result<QString>;

    NodeTrial trial;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const TrialRequest&) const = default;
};

/// Ends such trials that are under way, soon: their answer is kUnavailable.
struct StopTrialRequest {
    using Answer = Result<void>;

    NodeTrial trial;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const StopTrialRequest&) const = default;
};

/// Tells what is new of nodes that are looked at live, and looks at them for the next few seconds.
/// Who looks asks again and again. kNotFound: one of them is not in the list.
struct LookAtMachinesRequest {
    using Answer = Result<std::vector<MachineNews>>;

    MachineLook look;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const LookAtMachinesRequest&) const = default;
};

/// Ends the looking of that one at once.
struct LeaveMachinesRequest {
    using Answer = Result<void>;

    std::string viewer; ///< MachineLook::by

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const LeaveMachinesRequest&) const = default;
};

} // namespace rm
