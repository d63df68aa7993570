// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/device.h"

#include <stdexcept>
#include <string>
#include <vector>

/// What the GPU tests stand on: a GPU machine has torch but no Qt.
namespace rm::gpu {

struct Test {
    std::string group;
    std::string name; ///< a claim
    void (*run)(const Device&);
};

/// All that GPU_TEST() made, in the order of the files.
std::vector<Test>& tests();

struct Registration {
    Registration(const char* group, const char* name, void (*run)(const Device&));
};

/// Thrown by require().
struct Failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};
void require(bool condition, const std::string& otherwise);

/// A figure as a person reads it: "0.0012".
std::string text(double value);

} // namespace rm::gpu

/// GPU_TEST(group, aClaim) { ... device ... }
#define GPU_TEST(group, name)                                                                      \
    static void name(const rm::Device& device);                                                    \
    static const rm::gpu::Registration k_##name(#group, #name, &name);                             \
    static void name([[maybe_unused]] const rm::Device& device)
