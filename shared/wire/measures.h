// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// How long a sum of so many bytes over some ranks took, in the middle of several times.
struct SumTime {
    int64_t bytes = 0;
    double seconds = 0;
    int64_t times = 0;
    double cpuSeconds = 0; ///< of rank 0's cores for one sum, user and system; 0: not told
    bool operator==(const SumTime&) const = default;
};

/// Ranks that summed together, while others did so at most among themselves.
struct SumGroup {
    std::vector<int64_t> nodes; ///< indices into the nodes that were asked
    int64_t ranks = 0;
    std::vector<SumTime> times; ///< by size, the smallest first; not empty
    bool operator==(const SumGroup&) const = default;
};

/// The figures of `ringmaster-trainer all-reduce`: each pair of nodes, by the first rank of each,
/// in order, and, last, all ranks together.
struct AllReduceReport {
    std::string device; ///< "CPU, 1 thread"
    std::string fault;  ///< World::collectivesFault()
    std::vector<SumGroup> groups;
    bool operator==(const AllReduceReport&) const = default;
};

/// Seconds of the smallest sum.
double latencyOf(const SumGroup& group);
/// Bytes a second that each rank's own connection carried in each direction at one of the group's
/// sizes: nccl-tests' "bus bandwidth", S/t 2(n-1)/n.
double busBandwidthOf(const SumGroup& group, const SumTime& time);
/// The same at the largest size.
double busBandwidthOf(const SumGroup& group);

std::string toJson(const AllReduceReport& report);
/// kCorrupt names `source`, and what is wrong.
Result<AllReduceReport> parseAllReduceReport(const std::string& json, const std::string& source);

/// When a bucket's gradients are there and its weights are read, on one rank alone.
struct BucketTimes {
    int64_t bytes = 0;
    double readyMs = 0; ///< from the begin of the backward pass until all its gradients are there
    double neededMs =
        0; ///< from the begin of the forward pass until the first of its weights is read
    bool operator==(const BucketTimes&) const = default;
};

/// The figures of `ringmaster-trainer step-profile`: a step of one rank without any other.
struct StepProfile {
    std::string device;
    int64_t samples = 0;              ///< in a micro-batch
    double forwardMs = 0;             ///< of a micro-batch
    double backwardMs = 0;            ///< likewise
    double updateMs = 0;              ///< to update the weights
    int64_t accumulation = 1;         ///< train.accumulation, also beside a train.global_batch
    bool sharded = false;             ///< optimizer.sharded
    int64_t bytesOnWire = 4;          ///< for each number: distribution.compression
    std::vector<BucketTimes> buckets; ///< as gradients are there, all of float32
    int64_t spareCores = 1;           ///< cores that no rank of the node computes with
    bool operator==(const StepProfile&) const = default;
};

std::string toJson(const StepProfile& profile);
/// kCorrupt names `source`, and what is wrong.
Result<StepProfile> parseStepProfile(const std::string& json, const std::string& source);

/// What a model does with an input.
enum class TryKind { kText, kTranslation, kClasses };

/// What the model of a checkpoint made of one input: `ringmaster-trainer try`.
struct TryAnswer {
    struct Class {
        std::string name;
        double probability = 0; ///< 0 to 1
        bool operator==(const Class&) const = default;
    };
    TryKind kind = TryKind::kText;
    std::string text;           ///< the continuation without its prompt, or the translation
    std::vector<Class> classes; ///< of a picture, the likeliest first
    int64_t tokens = 0;         ///< of the text
    int64_t step = 0;           ///< of the checkpoint
    double seconds = 0;         ///< with the reading of the weights
    std::string device;
    bool operator==(const TryAnswer&) const = default;
};

std::string toJson(const TryAnswer& answer);
/// kCorrupt names `source`, and what is wrong.
Result<TryAnswer> parseTryAnswer(const std::string& json, const std::string& source);

} // namespace rm
