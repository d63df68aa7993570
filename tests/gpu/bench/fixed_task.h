// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/task.h"

namespace rm {

/// A workload without reading: the model of the spec learns the batches of one safetensors file,
/// spec.data.train[0], over and over in their order. Tensor "2.0" is the first of the third batch;
/// an empty one may be left out. What a batch consists of: see Batch. data.vocab_size and
/// model.classes are the sizes that real data would tell. kInvalid: no batches in it.
Result<std::unique_ptr<Task>> makeFixedTask(const Session& session);

} // namespace rm
