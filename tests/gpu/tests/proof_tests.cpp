// SPDX-License-Identifier: Apache-2.0
// What `ringmaster-trainer self-test` shows on a node, one proof a test.
#include "tests/gpu/tests/harness.h"
#include "trainer/train/self_test/proofs.h"

using namespace rm;
using gpu::require;

namespace {

void show(const char* name, const Device& device) {
    for (const Proof& proof : proofs())
        if (proof.name == std::string(name) && proof.applies(device))
            proof.show(device);
}

} // namespace

GPU_TEST(proofs, memoryKeepsWhatWasWritten) {
    show("memory", device);
}

GPU_TEST(proofs, productsAreThoseOfTheCpu) {
    for (const char* name : {"float32 products", "bfloat16 products", "float16 products"})
        show(name, device);
}

GPU_TEST(proofs, kernelsAreThoseOfAten) {
    for (const char* name : {"layer norm kernel", "GELU kernel", "loss kernel"})
        show(name, device);
}

GPU_TEST(proofs, copiesArriveWhole) {
    show("copies beside computing", device);
}

GPU_TEST(proofs, recordedStepsAreThePlainOnes) {
    show("recorded steps", device);
}

GPU_TEST(proofs, sumsAreThoseOfTheHost) {
    show("sums", device);
}
