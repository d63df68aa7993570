# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What packaging/setup, run and test share. Sourced by them; does nothing by itself.

RM_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
RM_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/ringmaster
RM_TOOLKIT=$RM_CACHE/toolkit-cuda13 # of packaging/setup --toolkit
# Exported, so that a script called by another continues the time.
export RM_STARTED=${RM_STARTED:-$(date +%s)}

# Seconds that two cores of an Intel Xeon (AVX-512, 2026-11-28) took without a compiler cache: the programs alone, with the
# tests, all stages of packaging/test after that, and those of cuda12. RM_LOOP_MS: the loop of minutesHere() there.
RM_BUILD_SECONDS=600
RM_BUILD_TESTS_SECONDS=1100
RM_TESTS_SECONDS=2270
RM_CUDA12_SECONDS=350
RM_LOOP_MS=700

# One line for each thing that is done, with the seconds since the start; also into the file RM_STAGES, if that is set.
stage() {
    local now
    now=$(($(date +%s) - RM_STARTED))
    printf '[%4d s] %s\n' "$now" "$*"
    [[ -z ${RM_STAGES:-} ]] || printf '%d %s\n' "$now" "$*" >>"$RM_STAGES"
}

# minutesHere SECONDS: about how many minutes work takes here that takes that long on the two cores on which the
# times above were measured. A loop of the shell is the measure of both.
minutesHere() {
    local begin end cores i
    begin=$(date +%s%N)
    for ((i = 0; i < 300000; ++i)); do :; done
    end=$(date +%s%N)
    cores=$(nproc)
    printf '%d\n' $(((($1 * 2 / cores) * ((end - begin) / 1000000) / RM_LOOP_MS + 59) / 60))
}

# The processor, and its vector extensions, which decide what code libraries run.
processorName() {
    local name units
    name=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
    units=$(grep -m 1 '^flags' /proc/cpuinfo | tr ' ' '\n' | grep -xE 'avx2|avx512f|avx512_bf16|amx_tile' | paste -sd, || true)
    printf '%s (%s), %s cores\n' "${name:-unknown}" "$units" "$(nproc)"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# logged NAME COMMAND...: the output goes to a file; a failure shows its end and where the rest is.
logged() {
    local name=$1 log=$RM_CACHE/log/$1.log
    shift
    mkdir -p "$RM_CACHE/log"
    if ! "$@" >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        die "$name failed; all of its output is in $log"
    fi
}

# torchFolder cpu|cuda12|cuda13: where setup puts the wheel's `torch` folder.
torchFolder() {
    local version=2.11.0
    [[ $1 != cuda12 ]] || version=2.7.1
    printf '%s/torch-%s-%s/torch\n' "$RM_CACHE" "$version" "$1"
}

# What packaging/run was asked to build: "cuda13" after --cuda13.
RM_CHOICE=$RM_ROOT/build/release/runtime

# chosenRuntime: for which LibTorch a person has build/release made: cuda13 or cpu.
chosenRuntime() {
    if [[ -e $RM_CHOICE && -d $(torchFolder cuda13) ]]; then
        cat "$RM_CHOICE"
    else
        echo cpu
    fi
}

# configureRelease RUNTIME: the preset `release` without anything for GPUs (cpu), with LibTorch for NVIDIA's (cuda13),
# or with the CPU's and the library for GPUs, which the toolkit of packaging/setup compiles (toolkit).
configureRelease() {
    local wheels=$1 plugin=ON toolkit=
    [[ $1 != cpu ]] || plugin=OFF
    [[ $1 == cpu || ! -d $RM_TOOLKIT ]] || toolkit=$RM_TOOLKIT
    [[ $1 != toolkit ]] || wheels=cpu
    stage "configure build/release"
    (cd "$RM_ROOT" && logged configure cmake --preset release "-DRINGMASTER_TORCH=$(torchFolder "$wheels")" \
        "-DRINGMASTER_CUDA=$plugin" "-DRINGMASTER_TOOLKIT=$toolkit" -DRINGMASTER_UNITY=ON)
    # Trainer and library for GPUs are of one build, or nodes would get those of two.
    [[ $plugin == ON ]] || rm -f "$RM_ROOT"/build/release/{share/ringmaster/bundle-cuda13.txt*,lib/libringmaster-cuda.so}
    "$RM_ROOT/packaging/lib/compile_commands" "$RM_ROOT/build/release" "$RM_ROOT/compile_commands.json"
}

# buildRelease [TARGET...]: everything without a target.
buildRelease() {
    local targets=()
    (($#)) && targets=(--target "$@")
    local what="$*"
    (($# < 8)) || what="what $# tests need"
    stage "build build/release${what:+: $what}"
    cmake --build "$RM_ROOT/build/release" "${targets[@]}"
}

# buildCuda12 FOLDER [TARGET...]: the trainer of that runtime; FOLDER gets the list of what a node needs of it.
buildCuda12() {
    local lists=$1
    shift
    stage "configure build/cuda12"
    (cd "$RM_ROOT" && logged configure-cuda12 cmake --preset cuda12 \
        "-DRINGMASTER_TORCH=$(torchFolder cuda12)" "-DRINGMASTER_BUNDLES=$lists" -DRINGMASTER_UNITY=ON)
    stage "build build/cuda12: ringmaster-trainer bundle-cuda12${*:+ $*}"
    cmake --build "$RM_ROOT/build/cuda12" --target ringmaster-trainer bundle-cuda12 "$@"
}
