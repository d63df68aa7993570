// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/checkpoint/manifest.h"
#include "shared/checkpoint/safetensors.h"
#include "trainer/train/checkpoint/text_files.h"
#include "trainer/train/checkpoint/train_state.h"
#include "trainer/train/model/model.h"
#include "trainer/train/optim/optimizer.h"

#include <string>

namespace rm {

inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kOptimizerFile = "optimizer.safetensors";
inline constexpr const char* kAverageFile = "ema.safetensors";

/// The content of a checkpoint (FORMAT.md beside this).
struct CheckpointContent {
    struct TensorFile {
        std::string name;
        std::vector<NamedTensor> tensors;
    };
    Manifest manifest; ///< without files
    std::vector<TensorFile> tensorFiles;
    TrainState state;
    TextFiles texts;
    /// Training leaves a processor for it, so that a second thread takes the hashes while the files
    /// are written.
    bool hasSpareCore = false;
};

/// Parameters and buffers under the names of the Python libraries. Parameters share storage with
/// the model; buffers, which the next forward pass changes, are copied to the host.
std::vector<NamedTensor> modelTensors(const Model& model);
std::vector<NamedTensor> bufferTensors(const Model& model);
/// The tensors that a file must have to be loaded into `model`.
std::vector<TensorShape> modelShapes(const Model& model);

/// Publishes `parent`/step-NNNNNNNNN. All tensors must be on the host: floats become float32, whole
/// numbers int64. Returns the folder.
Result<std::string> saveCheckpoint(const std::string& parent, const CheckpointContent& content);

/// Reads state.json of a checkpoint after checking all its bytes against the manifest.
Result<TrainState> openCheckpoint(const std::string& dir);
/// Reads state.json of a checkpoint that was checked already.
Result<TrainState> readState(const std::string& dir);

/// The content of the checkpoint's file `name`; empty when there is none.
std::string checkpointText(const std::string& dir, const std::string& name);

/// A file that has all the tensors that are needed.
class LoadedTensors {
public:
    /// kInvalid names the first tensor of `needed` that is missing or has another shape.
    static Result<LoadedTensors> open(const std::string& path,
                                      const std::vector<TensorShape>& needed);

    /// A view of the file's bytes, valid as long as this lives.
    at::Tensor tensor(const std::string& name) const;

private:
    explicit LoadedTensors(SafetensorsFile file)
        : m_file(std::move(file)) {}

    SafetensorsFile m_file;
};

/// Copies the tensors that modelShapes() names into the model.
void loadModel(const LoadedTensors& from, const Model& model);

} // namespace rm
