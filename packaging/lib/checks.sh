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

# Tests run together as long as there are processors for them, by tests/costs.txt, in tenths of one.
testsAtOnce() {
    printf -- '-j%d\n' $((10 * $(nproc)))
}

# The folder of the tests of shared, agent and store, instrumented: apart from those of the presets, which are for a
# person who changes one source.
sanitizedFolder() {
    printf '%s/build/checks/%s\n' "$RM_ROOT" "$1"
}

# sanitizedLabel address|thread: ctest's label of the tests that run with that sanitizer.
sanitizedLabel() {
    [[ $1 == address ]] && echo asan || echo tsan
}

# buildSanitized address|thread
buildSanitized() {
    local build preset=dev tests
    build=$(sanitizedFolder "$1")
    [[ $1 == address ]] || preset=tsan
    stage "sanitizers, $1: configure and build"
    (cd "$RM_ROOT" && logged "configure-$1" cmake --preset "$preset" -B "$build" -DRINGMASTER_BUILD_TRAINER=OFF \
        -DRINGMASTER_UNITY=ON -DCMAKE_CXX_FLAGS_DEBUG=-g1)
    mapfile -t tests < <(testsIn "$build" -L "^$(sanitizedLabel "$1")\$")
    cmake --build "$build" --target "${tests[@]}"
}

# sanitizedTests address|thread
sanitizedTests() {
    if hasPassed "$1"; then
        stage "sanitizers, $1: left out, the tests passed for these sources (tests/passed)"
        return
    fi
    stage "sanitizers, $1: run tests"
    ctest --test-dir "$(sanitizedFolder "$1")" --label-regex "^$(sanitizedLabel "$1")\$" --no-tests=error \
        --output-on-failure "$(testsAtOnce)" || return
    notePassed "$1" "$(sanitizedFolder "$1")"
}

# beginBuilds [--cuda12]: begins what compiles for the tests that come last, beside those of the release build, which wait
# for a third of their time. Sets RM_BUILDER, a session. Its output: log/builds.log in RM_CACHE.
beginBuilds() {
    mkdir -p "$RM_CACHE/log"
    setsid "$RM_ROOT/packaging/lib/build_last" "$@" >"$RM_CACHE/log/builds.log" 2>&1 </dev/null &
    RM_BUILDER=$!
}

# awaitBuilds: until what beginBuilds began is done; false: it failed.
awaitBuilds() {
    local builder=$RM_BUILDER code=0 log=$RM_CACHE/log/builds.log
    stage "wait for the builds that began beside the tests"
    wait "$builder" || code=$?
    RM_BUILDER=
    ((code)) || return 0
    grep -aE -A 8 '(^|[ :])(fatal )?error: |^FAILED: ' "$log" | tail -n 200 || true
    tail -n 20 "$log"
    printf 'a build beside the tests failed; all of its output is in %s\n' "$log"
    return 1
}

# What the checks after the tests of the release build are made of. Each is left out where it passed for these very sources:
# it takes long, and most changes are to other ones. tests/passed, which a commit carries, has a line for each.
RM_PASSED=$RM_ROOT/tests/passed

# sourcesOf address|thread|cuda12: files and folders.
sourcesOf() {
    local sources=(shared packaging/cmake CMakeLists.txt CMakePresets.json tests/CMakeLists.txt tests/support)
    if [[ $1 == cuda12 ]]; then
        sources+=(trainer packaging/requirements/{runtime-cuda12,python-peer}.txt tests/unit/{train,cuda} tests/python)
    else
        sources+=(trainer/CMakeLists.txt trainer/agent app/CMakeLists.txt app/core resources/schema
            tests/unit/{shared,agent,core})
    fi
    printf '%s\n' "${sources[@]}"
}

# hashOf address|thread|cuda12: of the sources and the compiler; fails where this is no checkout, or git does not trust it.
hashOf() {
    local sources
    mapfile -t sources < <(sourcesOf "$1")
    (cd "$RM_ROOT" && {
        c++ --version | head -n 1
        git ls-files -z --cached --others --exclude-standard "${sources[@]}" | grep -zv '\.md$' | sort -zu |
            xargs -0 sha256sum
    } | sha256sum | cut -c1-64)
}

# hasPassed address|thread|cuda12
hasPassed() {
    local hash
    hash=$(hashOf "$1") && grep -qsx "$1 $hash" "$RM_PASSED"
}

# notePassed address|thread|cuda12 BUILD: its tests passed, and are noted unless one was skipped.
notePassed() {
    local hash
    hash=$(hashOf "$1") || return 0
    if ! grep -qa '^SKIP   : ' "$2/Testing/Temporary/LastTest.log"; then
        { grep -sv "^$1 " "$RM_PASSED" || true; echo "$1 $hash"; } | sort >"$RM_PASSED.new"
        mv "$RM_PASSED.new" "$RM_PASSED"
    fi
}

RM_CUDA12_TESTS=(tst_trainer_worlds tst_python_peer tst_cuda_plugin tst_cuda_bundle)

# Fetches the wheels of the other runtime, 2.8 GB, and compiles its trainer with its tests.
buildForCuda12() {
    "$RM_ROOT/packaging/setup" --cuda12
    # Its list of what a node gets is not for the program in build/release, which a person may run.
    buildCuda12 "$RM_ROOT/build/cuda12/share/ringmaster" "${RM_CUDA12_TESTS[@]}"
}

# cuda12Tests: the trainer of the other runtime computes what this one does.
cuda12Tests() {
    if hasPassed cuda12; then
        stage "build/cuda12: left out, its tests passed for these sources (tests/passed)"
        return
    fi
    stage "run tests of build/cuda12"
    ctest --test-dir "$RM_ROOT/build/cuda12" --no-tests=error --output-on-failure "$(testsAtOnce)" \
        -R "^($(IFS='|' && echo "${RM_CUDA12_TESTS[*]}"))\$" || return
    notePassed cuda12 "$RM_ROOT/build/cuda12"
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

# holdSummary: passes ctest's output through but for its summary, which goes to RM_SUMMARY.
holdSummary() {
    local line held=
    : >"$RM_SUMMARY"
    while IFS= read -r line; do
        if [[ $held || $line =~ ^[0-9]+%\ tests\ passed ]]; then
            held=yes
            printf '%s\n' "$line" >>"$RM_SUMMARY"
        else
            printf '%s\n' "$line"
        fi
    done
}

# releaseTests CTEST-ARGUMENT...: its summary is for endWithSummary.
releaseTests() {
    local build=$RM_ROOT/build/release
    stage "run the tests of build/release"
    rm -f "$build/tests.xml"
    ctest --test-dir "$build" --no-tests=error --output-on-failure --output-junit "$build/tests.xml" \
        "$(testsAtOnce)" "$@" 2>&1 | holdSummary
}

# What was skipped and how long everything took, then the summary of releaseTests as the last lines.
endWithSummary() {
    listSkips
    listTimes
    cat "$RM_SUMMARY"
}
