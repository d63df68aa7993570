# SPDX-License-Identifier: Apache-2.0
"""Tensors in safetensors files, without the library of that name: a GPU machine has torch alone."""
import ctypes
import json
import pathlib
import struct

import torch

DTYPES = {"F32": torch.float32, "I64": torch.int64, "U8": torch.uint8, "BOOL": torch.bool}


def save(path, tensors):
    header, at = {}, 0
    for name, tensor in tensors.items():
        kind = next(name for name, dtype in DTYPES.items() if dtype == tensor.dtype)
        end = at + tensor.numel() * tensor.element_size()
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            flat = tensor.contiguous()
            size = flat.numel() * flat.element_size()
            file.write((ctypes.c_char * size).from_address(flat.data_ptr()))


def load(path):
    data = bytearray(pathlib.Path(path).read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(data, dtype=torch.uint8, count=end - begin, offset=8 + length + begin)
        tensors[name] = flat.clone().view(DTYPES[entry["dtype"]]).view(entry["shape"])
    return tensors


def save_batches(path, batches):
    """[[tensor, ...], ...] as "0.0", "0.1", ..., "1.0", ...; empty tensors are left out."""
    save(path, {f"{number}.{index}": tensor for number, batch in enumerate(batches)
                for index, tensor in enumerate(batch) if tensor.numel()})


def batches_of(tensors):
    """The inverse of save_batches(): [{index: tensor}, ...]"""
    batches = {}
    for name in sorted(tensors, key=lambda name: tuple(map(int, name.split(".")))):
        batches.setdefault(int(name.split(".")[0]), {})[int(name.split(".")[1])] = tensors[name]
    return [batches[number] for number in sorted(batches)]
