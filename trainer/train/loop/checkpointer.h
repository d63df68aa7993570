// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/messages.h"
#include "trainer/train/checkpoint/checkpoint_writer.h"
#include "trainer/train/loop/training.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

class Validator;

/// The training state of a checkpoint, read by rank 0 and sent to all ranks. All ranks call it
/// together.
Result<TrainState> readTrainState(const World& world, const std::string& dir);

/// The start of an attempt.
struct Start {
    std::optional<TrainState> state;           ///< nullopt: from scratch
    std::vector<DamagedCheckpoint> passedOver; ///< rank 0's: newer ones that cannot be used
};

/// Rank 0 checks every byte of the checkpoint that the attempt is to start from; if it is damaged
/// and the options allow it, the newest whole one before it (newestWhole()) takes its place in
/// `session.options.startFrom` of all ranks. All ranks call it together.
Result<Start> findStart(Session& session);

/// Saves and loads checkpoints. All ranks collect one at a step boundary, and a thread of rank 0
/// writes it while training continues. All ranks call the methods together.
class Checkpointer {
public:
    Checkpointer(Training& training, Validator& validator);

    /// Rank 0 finds this attempt's line among the checkpoints of the folder, makes the folder this
    /// attempt's own and cleans it up. kInvalid: it is another run's or a later attempt's.
    Result<void> claimFolder();
    /// Loads weights, averages and optimizer state of a checkpoint into all ranks.
    Result<void> load(const std::string& dir);

    /// `store` adds another part's values to the state of every checkpoint; called on rank 0 alone.
    void keepWith(std::function<void(TrainState&)> store) { m_store = std::move(store); }

    bool isDue() const { return !whyDue().empty(); }
    /// "every 500" or "epoch 3"; empty: none is due.
    std::string whyDue() const;
    /// `command`: the command whose result is journaled with it.
    void save(const std::string& reason, const std::optional<Command>& command = {});
    /// Returns on all ranks once the checkpoint is durable, or why it is not.
    Result<void> saveAndWait(const std::string& reason);
    /// The same for the last checkpoint, with up to five minutes of patience for a full disk:
    /// everything trained since the one before depends on it.
    Result<void> saveAtEnd();
    /// Call it before weights or optimizer state change. False: nothing was being staged.
    bool release() { return m_writer.release(); }
    /// Waits for the writer, then returns the folder of the newest complete checkpoint of the line
    /// whose step `isGood` accepts; it is called on rank 0 alone. Empty: none.
    Result<std::string> newest(const std::function<bool(int64_t step)>& isGood);

private:
    std::string newestHere(const std::function<bool(int64_t step)>& isGood) const;
    CheckpointContent collect(const std::string& reason);
    std::vector<std::string> noteUnwritten(std::vector<std::string> texts);
    std::vector<NamedTensor> averagedTensors() const;
    TrainState stateNow() const;
    bool noteSaving();
    Result<void> publish(const CheckpointContent& content);
    Result<void> publishWithPatience(const CheckpointContent& content);
    void removeOldCheckpoints(const Manifest& saved);
    void reportWritten(const CheckpointContent& content, const Result<void>& done,
                       const std::optional<Command>& command);

    Training& m_training;
    Validator& m_validator;
    std::function<void(TrainState&)> m_store;
    const Session& m_session;
    CheckpointLine m_line; ///< rank 0: which of the folder's checkpoints are the run's
    std::string m_newest;  ///< rank 0's writer sets it
    /// Rank 0's: by rank, whether its journal was behind at the last save.
    std::vector<bool> m_unwritten;
    bool m_isAtEnd = false;
    CheckpointWriter m_writer; ///< the last member: ends before those that it reads
};

} // namespace rm
