# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The stages of packaging/test after the build. Sourced by it after common.sh.

# Checks that every C++ file is formatted by clang-format 14.
checkFormat() {
    stage "check the format of every C++ file"
    (cd "$RM_ROOT" && find app shared trainer tests \
        '(' -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' ')' -print0 |
        xargs -0 -r clang-format-14 --dry-run --Werror)
}

# sanitizedTests PRESET: the tests of shared, agent and store (label `tsan`), instrumented.
sanitizedTests() {
    local build=$RM_ROOT/build/$1 programs
    stage "sanitizers, preset $1: configure and build the tests of shared, agent and store"
    (cd "$RM_ROOT" && logged "configure-$1" cmake --preset "$1" \
        "-DRINGMASTER_TORCH=$(torchFolder cpu)" -DRINGMASTER_UNITY=ON \
        ${CI:+-DCMAKE_CXX_FLAGS_DEBUG=-g1})
    mapfile -t programs < <(ctest --test-dir "$build" -N -L '^tsan$' |
        awk '$1 == "Test" && $2 ~ /^#/ { print $NF }')
    cmake --build "$build" --target ringmaster-agent "${programs[@]}"
    stage "sanitizers, preset $1: run ${#programs[@]} programs"
    ctest --test-dir "$build" --label-regex '^tsan$' --no-tests=error --output-on-failure -j2
}

# cuda12Tests: the trainer of the other runtime computes what this one does.
cuda12Tests() {
    buildCuda12 tst_trainer_worlds tst_python_peer tst_cuda_plugin tst_cuda_bundle
    stage "run tests of build/cuda12"
    ctest --test-dir "$RM_ROOT/build/cuda12" --no-tests=error --output-on-failure -j2 \
        -R '^(tst_trainer_worlds|tst_python_peer|tst_cuda_plugin|tst_cuda_bundle)$'
}

# What the programs of the last ctest run skipped, each with its reason.
listSkips() {
    local log=$1/Testing/Temporary/LastTest.log
    printf 'Skipped tests:\n'
    grep -a '^SKIP   : ' "$log" | sed 's/^SKIP   : /  /' | sort -u || printf '  none\n'
}

# holdSummary COMMAND...: passes ctest's output through and runs COMMAND before the summary, so that
# the summary stays at the end.
holdSummary() {
    local line summary=()
    while IFS= read -r line; do
        if ((${#summary[@]})) || [[ $line =~ ^[0-9]+%\ tests\ passed ]]; then
            summary+=("$line")
        else
            printf '%s\n' "$line"
        fi
    done
    "$@"
    ((${#summary[@]} == 0)) || printf '%s\n' "${summary[@]}"
}

# releaseTests CTEST-ARGUMENT...
releaseTests() {
    local build=$RM_ROOT/build/release
    stage "run the tests of build/release"
    # One more than there are processors, as tests wait now and then.
    ctest --test-dir "$build" --output-on-failure "-j$(($(nproc) + 1))" "$@" 2>&1 | holdSummary listSkips "$build"
}
