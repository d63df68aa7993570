// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "shared/wire/measures.h"
#include "trainer/train/device/device.h"
#include "trainer/train/dist/world.h"
#include "trainer/train/formats/weights.h"
#include "trainer/train/model/batch.h"
#include "trainer/train/model/model.h"
#include "trainer/train/workloads/try_input.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

class ForeignConfig;
class Task;
struct Session;

/// The sizes of a model that depend on the data, determined without reading it: from the spec, the
/// header of a shard, or the names of folders.
struct DataSizes {
    int64_t vocab = 0;   ///< tokens; of pairs: of each language
    int64_t classes = 0; ///< for pictures
    std::string assumed; ///< values that had to be assumed, in words; empty: none
    bool operator==(const DataSizes&) const = default;
};

/// How large a micro-batch is, and how the spec says it.
struct MicroBatch {
    std::string_view key;          ///< the key's name in the spec
    int64_t samples = 1;           ///< those of the largest rank
    int64_t valueOfOne = 1;        ///< what one sample adds to the key's value
    const char* oneSample = "one"; ///< in words
};

/// Memory that training needs on a CPU in addition to tensors.
struct HostExtras {
    int64_t bytes = 0;            ///< for texts, vocabularies and the like
    double gapsPerActivation = 0; ///< bytes that a heap loses for each byte of activations
    bool copiesForFiles = false;  ///< a checkpoint's tensors are made contiguous per file
};

/// What the trainer knows about a family of models (shared/spec/model_family.h): it makes their
/// Task and Model, and knows their size, how to rehearse them, and how to read their weights.
/// Stateless; any thread.
class Workload {
public:
    virtual ~Workload() = default;

    /// ModelFamily::name.
    virtual std::string_view family() const = 0;

    /// Reads the data of session.spec and makes the model that it needs, uninitialised. All ranks
    /// call it together and all get the same error. `session` must outlive the task.
    virtual Result<std::unique_ptr<Task>> makeTask(const Session& session) const = 0;
    /// Threads of a rank that read ahead if data.workers is 0.
    virtual int64_t readers(const Device& device, int localRanks) const;
    /// Whether the device should benchmark convolution algorithms.
    virtual bool convolves() const { return false; }
    /// Whether almost every batch has another shape.
    virtual bool hasManyShapes() const { return false; }

    /// kNotFound and the like name the path that was needed, and the key to set instead.
    virtual Result<DataSizes> dataSizes(const RunSpec& spec) const = 0;
    /// The model that training would make, uninitialised. `world` must outlive it.
    virtual std::unique_ptr<Model> makeModel(const RunSpec& spec, const DataSizes& sizes,
                                             const World& world) const = 0;
    /// A made-up micro-batch of this many samples of the largest size, on the host.
    virtual Batch imagineBatch(const RunSpec& spec, int64_t samples) const = 0;
    /// `count` micro-batches of about that size in other shapes, if training has such; else none.
    virtual std::vector<Batch> imagineOtherShapes(const RunSpec& spec, int64_t samples,
                                                  int64_t count) const;
    virtual MicroBatch microBatch(const RunSpec& spec) const;
    /// Roughly how often a sample uses each weight.
    virtual int64_t usesPerSample(const RunSpec& spec) const = 0;
    virtual HostExtras hostExtras() const { return {}; }

    /// The spec with 0 in sizes replaced by its meaning.
    virtual RunSpec::Model spelledOut(RunSpec::Model model) const;
    /// Whether there are weights for each of model.context positions.
    virtual bool hasPositionWeights() const { return false; }

    /// Gives weights from elsewhere the names and layouts of our models; tied copies become one.
    /// kInvalid when copies that are tied here differ.
    virtual Result<Weights> withOurNames(const RunSpec& spec, Weights weights,
                                         const std::string& source) const;
    /// The model of `spec`, uninitialised, with the number of tokens or classes that the weights
    /// have. `config`: the config.json beside them; empty: none. kInvalid when the tensor that has
    /// that number is missing.
    virtual Result<std::unique_ptr<Model>> modelFor(const RunSpec& spec, const Weights& weights,
                                                    const std::string& config,
                                                    const std::string& source) const = 0;
    /// kInvalid: the model takes another kind of input, or this one makes no sense.
    virtual Result<void> checkInput(const RunSpec& spec, const TryInput& input) const = 0;
    /// What `model`, made by modelFor() with the weights of the folder `checkpoint` and on
    /// `device`, makes of an input that was checked; without step, device and seconds. Changes no
    /// generator.
    virtual Result<TryAnswer> tryOut(const RunSpec& spec, Model& model,
                                     const std::string& checkpoint, const Device& device,
                                     const TryInput& input) const = 0;

    /// model_type of a Hugging Face config.json that describes such a model; empty: there is none.
    virtual std::string_view configType() const { return {}; }
    /// Fills `model` from such a config.json, and notes in `config` what our models do not support.
    virtual void readConfig(ForeignConfig& config, RunSpec::Model& model) const;
};

/// checkInput() of a model that takes texts. `use`: what it does with them: "continues text".
Result<void> checkTextInput(const RunSpec& spec, const TryInput& input, const char* use);

/// DataSizes for a vocabulary that has yet to be learnt, assumed to be as large as data.vocab_size
/// allows.
DataSizes learntVocabulary(const RunSpec& spec);

} // namespace rm
