# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Pinned wheels: fetched with their hashes checked, unpacked beside the final place, renamed.
# Sourced by packaging/setup after common.sh.

# Debian's python3, as another one earlier in PATH may lack pip.
PYTHON=/usr/bin/python3
RM_STAMP=.requirements.sha256

# stampOf FILE...: a hash that identifies the requested packages.
stampOf() {
    cat "$@" | sha256sum | cut -d' ' -f1
}

# isStamped FOLDER STAMP
isStamped() {
    [[ -f $1/$RM_STAMP && $(<"$1/$RM_STAMP") == "$2" ]]
}

# Always wheels for CPython 3.11 on x86-64, whatever Python runs here, as only the files are used.
wheelTags() {
    local minor
    printf -- '--python-version 3.11 --implementation cp --abi cp311 --abi abi3 --abi none'
    printf -- ' --platform linux_x86_64 --platform manylinux2014_x86_64'
    for minor in $(seq 5 34); do
        printf -- ' --platform manylinux_2_%d_x86_64' "$minor"
    done
}

# downloadWheels REQUIREMENTS FOLDER: what an interrupted run fetched is not fetched again.
downloadWheels() {
    local tags
    read -ra tags <<<"$(wheelTags)"
    mkdir -p "$2"
    logged wheels "$PYTHON" -m pip download --quiet --no-cache-dir --no-deps --require-hashes \
        --only-binary=:all: "${tags[@]}" --dest "$2" --requirement "$1"
}

# unpackWheels FOLDER TARGET
unpackWheels() {
    local wheel
    mkdir -p "$2"
    for wheel in "$1"/*.whl; do
        "$PYTHON" -m zipfile --extract "$wheel" "$2"
    done
    chmod -f +x "$2"/torch/bin/* || true # zipfile drops the mode
}

# installWheels REQUIREMENTS TARGET [UNPACK]: replaces TARGET, which is never incomplete but is missing between two renames.
# UNPACK makes of a folder of wheels a new folder: unpackWheels.
installWheels() {
    local stamp downloads
    stamp=$(stampOf "$1")
    if isStamped "$2" "$stamp"; then
        stage "pinned wheels: ${2##*/} is there"
        return
    fi
    downloads=$RM_CACHE/wheels-${stamp:0:16}
    stage "pinned wheels: fetch ${1##*/} (hashes checked) into $2"
    rm -rf "$2".new "$2".old # left by an interrupted run; we hold the lock
    downloadWheels "$1" "$downloads"
    "${3:-unpackWheels}" "$downloads" "$2.new"
    printf '%s\n' "$stamp" >"$2.new/$RM_STAMP"
    [[ ! -e $2 ]] || mv "$2" "$2.old"
    mv "$2.new" "$2"
    rm -rf "$2.old" "$downloads"
}

# unpackToolkit FOLDER TARGET: a toolkit of the wheels in FOLDER, as one lies in /usr/local/cuda, without their libraries,
# of which the headers alone are needed.
unpackToolkit() {
    local wheel
    rm -rf "$2.parts"
    for wheel in "$1"/*.whl; do
        "$PYTHON" - "$wheel" "$2.parts" <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if ".so" not in name])
PYTHON
    done
    mkdir -p "$2/include"
    cp -r "$2.parts/nvidia/nccl/include/." "$2/include"
    cp -r "$2.parts/nvidia/cu13/." "$2"
    ln -s lib "$2/lib64" # where nvcc looks
    chmod +x "$2"/bin/* "$2"/nvvm/bin/*
    rm -rf "$2.parts"
}

# installToolkit COMPILER RUNTIME TARGET: nvcc and the headers of CUDA 13 for a machine without a toolkit: of the wheels in
# COMPILER and those of RUNTIME that torch's headers include, 1 GB, of which TARGET keeps 0.2.
installToolkit() {
    local wanted=$RM_CACHE/wheels-of-${3##*/}.txt
    grep --no-filename -E '^nvidia-(cublas|cuda-(cccl|crt|nvcc|runtime)|cusolver|cusparse|nccl-cu13|nvvm)==' "$1" "$2" >"$wanted"
    isStamped "$3" "$(stampOf "$wanted")" || stage "CUDA toolkit: nvcc and headers for the GPU plugin: 1 GB to fetch, 0.2 GB stay"
    installWheels "$wanted" "$3" unpackToolkit
}

# python311: prints an interpreter that can load the wheels, or fails.
python311() {
    local candidate
    for candidate in "$PYTHON" "$(command -v python3.11 || true)"; do
        if [[ -x $candidate && $("$candidate" -c \
            'import sys; print("%d.%d" % sys.version_info[:2])') == 3.11 ]]; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

# installPeers REQUIREMENTS TARGET SITE: a venv for the programs in Python that the tests compare
# with; SITE (the unpacked torch) is on its path. The stamp is written last.
installPeers() {
    local stamp python
    stamp=$({ cat "$1"; printf '%s\n' "$3"; } | sha256sum | cut -d' ' -f1)
    if isStamped "$2" "$stamp"; then
        stage "Python peers: ${2##*/} is there"
        return
    fi
    if ! python=$(python311); then
        stage "Python peers: left out, their wheels need Python 3.11; tests against them will skip"
        return
    fi
    stage "Python peers: make $2"
    rm -rf "$2"
    logged venv "$python" -m venv "$2"
    logged peers "$2/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
        --require-hashes --only-binary=:all: --requirement "$1"
    printf '%s\n' "$3" >"$2/lib/python3.11/site-packages/ringmaster-torch.pth"
    printf '%s\n' "$stamp" >"$2/$RM_STAMP"
}
