// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/formats/plain_pickle.h"
#include "trainer/train/formats/weights.h"

#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace rm {

/// The bytes of one storage, and the owner that keeps them alive.
struct StorageBytes {
    const std::byte* data = nullptr;
    size_t size = 0;
    std::shared_ptr<const void> owner;
};

/// Finds the storage of a key.
using FindStorage = std::function<Result<StorageBytes>(const std::string& key)>;

/// The content of a pickle. Its tensors have no data yet; `keys` names their storages.
struct Unpickled {
    c10::IValue root;
    std::map<const void*, std::string> keys; ///< by address of the shells' storages
};

/// Runs torch::jit::Unpickler over a plain pickle. Passes on LibTorch's exceptions.
Unpickled unpickle(const PlainPickle& pickle);

/// The size in bytes of the items of each storage that a tensor of `pickle` uses, by key.
std::map<std::string, size_t> itemSizes(const Unpickled& pickle);

/// The state dict in `pickle`, its tensors filled with the bytes of their storages.
Result<Weights> stateDictOf(const Unpickled& pickle, const FindStorage& find,
                            const std::string& source);

} // namespace rm
