# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The stages of packaging/test after the build. Sourced by it after common.sh.

# sayHowLong SETUP-OPTION...: what is fetched, and about how long everything takes on this machine.
sayHowLong() {
    local work=$RM_TESTS_SECONDS
    [[ -e $RM_ROOT/build/release/tests.xml ]] || ((work += RM_BUILD_TESTS_SECONDS))
    [[ " $* " != *" --cuda12 "* ]] || ((work += RM_CUDA12_SECONDS))
    stage "$("$RM_ROOT/packaging/setup" --sizes "$@"); all stages take about $(minutesHere "$work") minutes here"
}

# Checks that every C++ file is formatted by clang-format 14.
checkFormat() {
    stage "check the format of every C++ file"
    (cd "$RM_ROOT" && find app shared trainer tests \
        '(' -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' ')' -print0 |
        xargs -0 -r -n 100 -P "$(nproc)" clang-format-14 --dry-run --Werror)
}

# testsIn BUILD CTEST-ARGUMENT...: the names of the tests that these select, each of which is a target, too.
testsIn() {
    local build=$1
    shift
    ctest --test-dir "$build" -N "$@" | awk '$1 == "Test" && $2 ~ /^#/ { print $NF }'
}

# buildTests CTEST-ARGUMENT...: the programs of the selected tests of build/release, and what these need.
buildTests() {
    local tests
    mapfile -t tests < <(testsIn "$RM_ROOT/build/release" "$@")
    ((${#tests[@]})) || die "no test is selected by: $* (build/release has $(testsIn "$RM_ROOT/build/release" | wc -l); ctest -N lists them)"
    buildRelease "${tests[@]}"
}

# A test counts two, and one that hardly computes counts one (tests/costs.txt): as many compute as there are processors, and
# one more waits beside them.
testsAtOnce() {
    printf -- '-j%d\n' $((2 * $(nproc) + 1))
}

# sanitizedTests address|thread: the tests of shared, agent and store (label `asan` or `tsan`), instrumented; in a folder
# of their own, since those of the presets are for a person who changes one source.
sanitizedTests() {
    local build=$RM_ROOT/build/checks/$1 preset=dev label=asan tests
    [[ $1 == address ]] || { preset=tsan && label=tsan; }
    stage "sanitizers, $1: configure and build"
    (cd "$RM_ROOT" && logged "configure-$1" cmake --preset "$preset" -B "$build" -DRINGMASTER_BUILD_TRAINER=OFF \
        -DRINGMASTER_UNITY=ON -DCMAKE_CXX_FLAGS_DEBUG=-g1)
    mapfile -t tests < <(testsIn "$build" -L "^$label\$")
    cmake --build "$build" --target "${tests[@]}"
    stage "sanitizers, $1: run ${#tests[@]} tests"
    ctest --test-dir "$build" --label-regex "^$label\$" --no-tests=error --output-on-failure "$(testsAtOnce)"
}

# fetchCuda12: begins to fetch the wheels of the other runtime, 2.8 GB, beside the build. Sets RM_FETCHER, a process group.
fetchCuda12() {
    RM_STAGES='' setsid "$RM_ROOT/packaging/setup" --cuda12 >"$RM_CACHE/log/fetch-cuda12.log" 2>&1 &
    RM_FETCHER=$!
}

# Identifies what the trainer of the other runtime is made of: sources, flags and wheels.
cuda12Hash() {
    (cd "$RM_ROOT" && git ls-files -z --cached --others --exclude-standard trainer shared packaging/cmake \
        packaging/requirements/{runtime-cuda12,python-peer}.txt tests/unit/train tests/unit/cuda tests/python \
        tests/support tests/CMakeLists.txt CMakeLists.txt CMakePresets.json |
        grep -zv '\.md$' | sort -zu | xargs -0 sha256sum | sha256sum | cut -c1-64)
}

# cuda12Tests: the trainer of the other runtime computes what this one does. Where it passed for the same sources
# (tests/cuda12-passed, which this writes and a commit carries) it is compiled alone.
cuda12Tests() {
    # Its list of what a node gets is not for the program in build/release, which a person may run.
    local own=$RM_ROOT/build/cuda12/share/ringmaster passed=$RM_ROOT/tests/cuda12-passed
    local tests=(tst_trainer_worlds tst_python_peer tst_cuda_plugin tst_cuda_bundle) hash
    stage "wait for the wheels of cuda12"
    wait "$RM_FETCHER" || die "fetch the wheels of cuda12: $(tail -n 3 "$RM_CACHE/log/fetch-cuda12.log")"
    hash=$(cuda12Hash) || hash= # not a checkout, or git does not trust it
    if [[ $hash && -e $passed && $(<"$passed") == "$hash" ]]; then
        buildCuda12 "$own"
        stage "tests of build/cuda12: left out, they passed for these sources (tests/cuda12-passed)"
        return
    fi
    buildCuda12 "$own" "${tests[@]}"
    stage "run tests of build/cuda12"
    ctest --test-dir "$RM_ROOT/build/cuda12" --no-tests=error --output-on-failure "$(testsAtOnce)" \
        -R "^($(IFS='|' && echo "${tests[*]}"))\$"
    if [[ $hash ]] && ! grep -qa '^SKIP   : ' "$RM_ROOT/build/cuda12/Testing/Temporary/LastTest.log"; then
        printf '%s\n' "$hash" >"$passed"
    fi
}

# What the programs of the last ctest run skipped, each with its reason.
listSkips() {
    local log=$RM_ROOT/build/release/Testing/Temporary/LastTest.log
    printf 'Skipped tests:\n'
    grep -a '^SKIP   : ' "$log" | sed 's/^SKIP   : /  /' | sort -u || printf '  none\n'
}

# Seconds of each stage, and of the tests that took longest.
listTimes() {
    stage "end"
    printf 'Seconds by stage:\n'
    awk 'NR > 1 { printf "%7d  %s\n", $1 - at, what } { at = $1; $1 = ""; what = substr($0, 2) }' "$RM_STAGES"
    printf 'The longest tests, in seconds:\n'
    "$RM_ROOT/tests/support/measure_costs" --print "$RM_ROOT/build/release/tests.xml" | awk 'NR <= 20' || true
}

# holdSummary: passes ctest's output through and says the rest before the summary, so that the summary stays at the end.
holdSummary() {
    local line summary=()
    while IFS= read -r line; do
        if ((${#summary[@]})) || [[ $line =~ ^[0-9]+%\ tests\ passed ]]; then
            summary+=("$line")
        else
            printf '%s\n' "$line"
        fi
    done
    listSkips
    listTimes
    ((${#summary[@]} == 0)) || printf '%s\n' "${summary[@]}"
}

# releaseTests CTEST-ARGUMENT...
releaseTests() {
    local build=$RM_ROOT/build/release
    stage "run the tests of build/release"
    rm -f "$build/tests.xml"
    ctest --test-dir "$build" --no-tests=error --output-on-failure --output-junit "$build/tests.xml" \
        "$(testsAtOnce)" "$@" 2>&1 | holdSummary
}
