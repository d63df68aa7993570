// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_program.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

namespace rm::test {
namespace {

using Run = int (*)(int argc, char** argv);

std::map<std::string, Run>& registered() {
    static std::map<std::string, Run> tests;
    return tests;
}

} // namespace

RegisteredTest::RegisteredTest(const char* file, Run run) {
    registered()[std::filesystem::path(file).stem().string()] = run;
}

} // namespace rm::test

/// Runs the test by whose name the program is called.
int main(int argc, char** argv) {
    const std::string name = std::filesystem::path(argv[0]).filename().string();
    const auto& tests = rm::test::registered();
    const auto found = tests.find(name);
    if (found != tests.end())
        return found->second(argc, argv);
    std::fprintf(stderr, "%s: call it by the link of a test beside it:\n", argv[0]);
    for (const auto& [test, run] : tests)
        std::fprintf(stderr, "  %s\n", test.c_str());
    return 2;
}
