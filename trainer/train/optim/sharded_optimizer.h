// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/dist/gradient_sync.h"
#include "trainer/train/optim/optimizer.h"
#include "trainer/train/optim/updater.h"

namespace rm {

/// ZeRO-1: every rank keeps the state of its shard of each bucket, updates that shard, and gets
/// the other ranks' updated values.
class ShardedOptimizer final : public Optimizer {
public:
    ShardedOptimizer(const Model& model, const RunSpec::Optimizer& settings, const World& world,
                     GradientSync& sync);

    std::vector<at::Tensor> gradients() const override;
    at::Tensor gradientNorm() const override;
    void step(double lr, const UpdateGate& gate) override;
    std::vector<TensorShape> stateShapes() const override;
    std::vector<NamedTensor> collectState() const override;
    void loadState(const TensorSource& source) override;

private:
    /// The part of a parameter that lies in this rank's shard of a bucket.
    struct Piece {
        size_t bucket;
        int64_t offset, size; ///< in the shard, elements
    };

    void addPieces(size_t bucket);
    std::string nameOf(size_t parameter, size_t state) const;
    at::Tensor collectFlat(const ParameterShards::Bucket& bucket, const at::Tensor& shard) const;
    void loadFlat(const ParameterShards::Bucket& bucket, size_t state, at::Tensor& shard,
                  const TensorSource& source);

    const Model& m_model;
    const World& m_world;
    GradientSync& m_sync;
    ParameterShards& m_shards;
    Updater m_updater;
    std::vector<std::vector<at::Tensor>> m_states; ///< [bucket][state]: flat, as the shard
    std::vector<Piece> m_pieces;                   ///< in the updater's order
};

} // namespace rm
