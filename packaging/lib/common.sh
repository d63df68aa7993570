# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What packaging/setup, run and test share. Sourced by them; does nothing by itself.

RM_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
RM_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/ringmaster
RM_TOOLKIT=$RM_CACHE/toolkit-cuda13 # of packaging/setup --toolkit
# Exported, so that a script called by another continues the time.
export RM_STARTED=${RM_STARTED:-$(date +%s)}

# One line for each thing that is done, with the seconds since the start.
stage() {
    printf '[%4d s] %s\n' "$(($(date +%s) - RM_STARTED))" "$*"
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

# buildRelease cpu|cuda13 [TARGET...]: configures the preset `release` and builds (everything
# without a target). With the toolkit of packaging/setup the library for GPUs cannot be left out.
buildRelease() {
    local torch plugin=AUTO toolkit=
    torch=$(torchFolder "$1")
    [[ ! -d $RM_TOOLKIT ]] || toolkit=$RM_TOOLKIT
    [[ $1 == cpu && -z $toolkit ]] || plugin=ON
    shift
    stage "configure build/release"
    (cd "$RM_ROOT" && logged configure cmake --preset release "-DRINGMASTER_TORCH=$torch" \
        "-DRINGMASTER_CUDA=$plugin" "-DRINGMASTER_TOOLKIT=$toolkit" -DRINGMASTER_UNITY=ON)
    grep --text 'is NOT built' "$RM_CACHE/log/configure.log" || true
    stage "build build/release${*:+: $*}"
    local targets=()
    (($#)) && targets=(--target "$@")
    cmake --build "$RM_ROOT/build/release" "${targets[@]}"
}

# buildCuda12 [TARGET...]: the trainer of that runtime, for the program in build/release to send.
buildCuda12() {
    stage "configure build/cuda12"
    (cd "$RM_ROOT" && logged configure-cuda12 cmake --preset cuda12 \
        "-DRINGMASTER_TORCH=$(torchFolder cuda12)" -DRINGMASTER_UNITY=ON)
    stage "build build/cuda12: ringmaster-trainer bundle-cuda12${*:+ $*}"
    cmake --build "$RM_ROOT/build/cuda12" --target ringmaster-trainer bundle-cuda12 "$@"
}
