# SPDX-License-Identifier: Apache-2.0
"""read_checkpoint.py CHECKPOINT: opens a checkpoint of the trainer with safetensors' own library,
without torch, and prints what it holds as JSON."""
import json
import pathlib
import sys

import numpy
from safetensors.numpy import load_file


def main():
    checkpoint = pathlib.Path(sys.argv[1])
    model = load_file(checkpoint / "model.safetensors")
    optimizer = load_file(checkpoint / "optimizer.safetensors")
    state = json.loads((checkpoint / "state.json").read_text())
    moments = {name + kind for name in model for kind in (".exp_avg", ".exp_avg_sq", ".step")}
    everything = [*model.values(), *optimizer.values()]
    print(
        json.dumps(
            {
                "tensors": len(model),
                "parameters": sum(tensor.size for tensor in model.values()),
                "float32": all(tensor.dtype == numpy.float32 for tensor in everything),
                "finite": all(bool(numpy.isfinite(tensor).all()) for tensor in everything),
                "optimizerComplete": set(optimizer) == moments,
                "step": state["step"],
                "torchLoaded": "torch" in sys.modules,
            }
        )
    )


main()
