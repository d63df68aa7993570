// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/formats/weights.h"
#include "trainer/train/model/batch.h"
#include "trainer/train/model/model.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

class ForeignConfig;
class Task;
struct Session;

/// What a model's size takes from the data, found out without reading it: from the spec, the header
/// of a shard, or the names of folders.
struct DataSizes {
    int64_t vocab = 0;   ///< tokens; of pairs: of each language
    int64_t classes = 0; ///< of pictures
    std::string assumed; ///< what was not known, in words; empty: nothing
    bool operator==(const DataSizes&) const = default;
};

/// How large a micro-batch is, and how the spec says it.
struct MicroBatch {
    std::string_view key;          ///< of the spec
    int64_t samples = 1;           ///< of the largest rank
    int64_t valueOfOne = 1;        ///< what one sample adds to the key's value
    const char* oneSample = "one"; ///< in words
};

/// What training keeps on a CPU beside a model's tensors.
struct HostExtras {
    int64_t bytes = 0;            ///< of texts, vocabularies and the like
    double gapsPerActivation = 0; ///< bytes that a heap loses for each byte of activations
    bool copiesForFiles = false;  ///< a checkpoint's tensors are brought into order file by file
};

/// All that the trainer knows of a family of models (shared/spec/model_family.h) beside its Task
/// and Model, which it makes: how large they are, how to rehearse them, and how to read their
/// weights. Stateless; any thread.
class Workload {
public:
    virtual ~Workload() = default;

    /// ModelFamily::name.
    virtual std::string_view family() const = 0;

    /// Reads the data of session.spec and makes the model that it needs, uninitialised. All ranks
    /// call it together and all get the same error. `session` must outlive the task.
    virtual Result<std::unique_ptr<Task>> makeTask(const Session& session) const = 0;
    /// Threads of a rank that read ahead where data.workers does not say it.
    virtual int64_t readers(const Device& device, int localRanks) const;
    /// Whether the device shall try out which way of convolving is fastest.
    virtual bool convolves() const { return false; }
    /// Whether hardly two batches have the same shape.
    virtual bool hasManyShapes() const { return false; }

    /// kNotFound and the like name the path that would have told, and the key that tells instead.
    virtual Result<DataSizes> dataSizes(const RunSpec& spec) const = 0;
    /// The model that training would make, uninitialised. `world` must outlive it.
    virtual std::unique_ptr<Model> makeModel(const RunSpec& spec, const DataSizes& sizes,
                                             const World& world) const = 0;
    /// A micro-batch of so many samples that nobody wrote, on the host, as large as they can be.
    virtual Batch imagineBatch(const RunSpec& spec, int64_t samples) const = 0;
    /// `count` micro-batches about as large in other shapes, where training has such; else none.
    virtual std::vector<Batch> imagineOtherShapes(const RunSpec& spec, int64_t samples,
                                                  int64_t count) const;
    virtual MicroBatch microBatch(const RunSpec& spec) const;
    /// How often a sample makes use of each weight, roughly.
    virtual int64_t usesPerSample(const RunSpec& spec) const = 0;
    virtual HostExtras hostExtras() const { return {}; }

    /// With what 0 stands for in sizes.
    virtual RunSpec::Model spelledOut(RunSpec::Model model) const;
    /// Whether there are weights for each of model.context positions.
    virtual bool hasPositionWeights() const { return false; }

    /// Gives weights from elsewhere the names and layouts of our models; tied copies become one.
    /// kInvalid when copies that are tied here differ.
    virtual Result<Weights> withOurNames(const RunSpec& spec, Weights weights,
                                         const std::string& source) const;
    /// The model of `spec`, uninitialised, with as many tokens or classes as the weights are for.
    /// `config`: the config.json beside them; empty: none. kInvalid when the tensor that tells is
    /// not there.
    virtual Result<std::unique_ptr<Model>> modelFor(const RunSpec& spec, const Weights& weights,
                                                    const std::string& config,
                                                    const std::string& source) const = 0;
    /// model_type of a Hugging Face config.json that describes such a model; empty: there is none.
    virtual std::string_view configType() const { return {}; }
    /// Notes in `model` what such a config.json says, and in `config` what our models cannot be.
    virtual void readConfig(ForeignConfig& config, RunSpec::Model& model) const;
};

/// DataSizes of a vocabulary that is learnt first: as large as data.vocab_size allows.
DataSizes learntVocabulary(const RunSpec& spec);

} // namespace rm
