# SPDX-License-Identifier: Apache-2.0
"""Synthetic batches, laid out as the trainer's are: see trainer/train/model/batch.h."""
import math

import torch

END, PAD, FIRST = 0, 2, 3  # Marian's


def gpt(row, generator):
    for _ in range(row["batches"]):
        ids = torch.randint(row["vocabulary"], (row["batch"], row["context"] + 1), generator=generator)
        yield ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def resnet50(row, generator):
    shape = (row["batch"], 3, row["size"], row["size"])
    for _ in range(row["batches"]):
        pictures = torch.randint(256, shape, generator=generator, dtype=torch.uint8)
        yield pictures, torch.randint(row["classes"], shape[:1], generator=generator)


def translation(row, generator):
    """Pairs as PairBatches of the trainer cuts them, but full batches alone: a bucket's pairs, none
    of whose sides is longer than its width, at most row["tokens"] a batch, by length over eight."""
    longest, count = row["longest"], 1024 * row["batches"]
    normal = torch.randn(count, generator=generator)
    targets = normal.mul(0.6).add(math.log(longest / 4)).exp().long().clamp(2, longest)
    stretch = torch.empty(count).uniform_(0.8, 1.25, generator=generator)
    sources = targets.mul(stretch).long().clamp(2, longest)
    buckets = {}
    for pair in zip(targets.tolist(), sources.tolist()):
        buckets.setdefault(bucket_width(max(pair)), []).append(pair)
    cut = []
    for width, pairs in sorted(buckets.items()):
        rows = max(1, row["tokens"] // width)
        for begin in range(0, len(pairs), 8 * rows):
            near = sorted(pairs[begin : begin + 8 * rows])
            cut += [near[i : i + rows] for i in range(0, len(near) - rows + 1, rows)]
    for index in torch.randperm(len(cut), generator=generator).tolist()[: row["batches"]]:
        yield translation_batch(cut[index], row["vocabulary"], generator)


def bucket_width(length):
    width = 8
    while width < length:
        width += max(1, width // 8)
    return width


def sentences(lengths, vocabulary, generator):
    """(ids, which of them are real); END is the last of each sentence."""
    own = torch.tensor(lengths)[:, None]
    place = torch.arange(int(own.max()))[None]
    ids = torch.randint(FIRST, vocabulary, (len(lengths), place.shape[1]), generator=generator)
    ids[place == own - 1] = END
    ids[place >= own] = PAD
    return ids, place < own


def translation_batch(pairs, vocabulary, generator):
    target, real = sentences([pair[0] for pair in pairs], vocabulary, generator)
    source, mask = sentences([pair[1] for pair in pairs], vocabulary, generator)
    seen = torch.nn.functional.pad(target, (1, -1), value=PAD)
    none = torch.empty(0, dtype=torch.long)
    places = none if real.all() else real.view(-1).nonzero().squeeze(1)
    return (source, none if mask.all() else mask[:, None, None], seen, target[real], places)


def make(row):
    """[[tensor, ...], ...] of one row; tensors that are empty stand for "no padding"."""
    generator = torch.Generator().manual_seed(row["seed"])
    return [list(batch) for batch in globals()[row["model"]](row, generator)]
