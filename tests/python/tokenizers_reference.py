# SPDX-License-Identifier: Apache-2.0
"""Small byte-level BPE tokenizers as model families have them, and the ids that they give.

Its jobs, as jobs.py takes them:

    make FOLDER
        learns tokenizers on the texts of Debian's licences and writes FOLDER/KIND/tokenizer.json,
        and texts into FOLDER/texts; FOLDER/ids.json is {KIND: {TEXT: ids}}
    load FOLDER TEXT
        the ids that AutoTokenizer gives for the file TEXT with the tokenizer in FOLDER, and whether
        they decode to the text
"""
import json
import pathlib
import random
import unicodedata

import transformers
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import jobs

LICENCES = sorted(str(path) for path in pathlib.Path("/usr/share/common-licenses").iterdir())
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + REST
QWEN2 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + REST


def split_by(pattern, behavior="isolated", invert=False):
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(pattern), behavior, invert), byte_level]
    )


def learn(pre_tokenizer, normalizer=None, size=1200, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    if normalizer:
        tokenizer.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train(LICENCES, trainer)
    return tokenizer


def gpt2():
    tokenizer = learn(pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens([AddedToken("<|im|>", normalized=True, special=True)])
    tokenizer.add_tokens([AddedToken("  two", normalized=False)])
    tokenizer.add_tokens([AddedToken("  two  ", normalized=True)])
    return tokenizer


def llama3():
    tokenizer = learn(split_by(LLAMA3), ignore_merges=True)
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|begin"])
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    template = processors.TemplateProcessing(
        single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", begin)]
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(), template])
    return tokenizer


def qwen2():
    tokenizer = learn(split_by(QWEN2), normalizers.NFC())
    tokenizer.add_tokens([AddedToken("caf\u00e9 au lait", normalized=True)])
    return tokenizer


def smollm():
    return learn(
        pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    )


def spaced():
    steps = [pre_tokenizers.Digits(False), pre_tokenizers.ByteLevel(add_prefix_space=True)]
    return learn(pre_tokenizers.Sequence(steps))


def removing():
    return learn(split_by(LLAMA3, "removed", invert=True))


KINDS = {make.__name__: make for make in (gpt2, llama3, qwen2, smollm, spaced, removing)}


def texts():
    """By name. Characters are those of Unicode 14, which is what Python 3.11 knows, too."""
    assert unicodedata.unidata_version.startswith("14.")
    dice = random.Random(5)
    known = [
        chr(point)
        for point in range(1, 0x110000)
        if not 0xD800 <= point < 0xE000 and unicodedata.category(chr(point)) != "Cn"
    ]
    dice.shuffle(known)
    alphabet = "abcXYZ  ''\n\r\t0123456789.,!?;<|>_\u00e9\u00df\u6f22\u304b\ud55c\U0001f642"
    alphabet += "\u200d\u216f\u00bd\u00a0\u3000\u200b\u0301\u017f\u0130"
    return {
        "licences": "".join(pathlib.Path(path).read_text() for path in LICENCES),
        "every character": "".join(known),
        "every character alone": " x".join(known[::7]),
        "noise": "".join(dice.choice(alphabet) for _ in range(100_000)),
        "tokens": "a<|endoftext|>b  two  c  two<|im|><|begin_of_text|><|begin|>cafe\u0301 au lait ",
        "contractions": "it's IT'S we'll WE'LL they\u2019re 'Tis 's ''s '\u017f",
        "digits": "1 12 123 1234 12345 3.14159 \u0661\u0662\u0663 \u00bd\u216f x1y22z",
        "line ends": "one\r\ntwo\r\n\r\n  three \n\n\n\tfour\r  \r\n",
        "spaces": " " * 4000 + "x" + " " * 7 + "\n" * 3000 + "\u3000 \u00a0 x",
        "long words": " ".join(
            ["a" * 5000, "\u00e9" * 3000, "ab" * 2000, "1" * 999, "\U0001f642" * 500]
        ),
        "families": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1ee\U0001f1f9 \u2764\ufe0f",
        "empty": "",
    }


def make(folder):
    folder = pathlib.Path(folder)
    written = texts()
    (folder / "texts").mkdir()
    for name, text in written.items():
        (folder / "texts" / name).write_bytes(text.encode())
    ids = {}
    for kind, tokenizer in KINDS.items():
        (folder / kind).mkdir()
        tokenizer().save(str(folder / kind / "tokenizer.json"))
        read = Tokenizer.from_file(str(folder / kind / "tokenizer.json"))
        ids[kind] = {
            name: read.encode(text, add_special_tokens=False).ids
            for name, text in written.items()
        }
    (folder / "ids.json").write_text(json.dumps(ids))
    return sorted(ids)


def load(folder, file):
    text = pathlib.Path(file).read_bytes().decode()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return {"ids": ids, "again": tokenizer.decode(ids) == text}


jobs.run(make=make, load=load)
