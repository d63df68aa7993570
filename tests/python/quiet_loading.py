# SPDX-License-Identifier: Apache-2.0
"""What transformers and torchvision say while they load a checkpoint of the trainer.

Its jobs, as jobs.py takes them:

    gpt CHECKPOINT TEXT
        loads model and tokenizer by their Auto classes, encodes TEXT and writes on from it
    translation CHECKPOINT TEXT
        likewise with Marian's
    resnet CHECKPOINT
        fills torchvision's model

Each gives `said`: every warning and every record of logging from WARNING on, as
"CATEGORY: text". Of a GPT also `ids` of TEXT, those of SentencePiece's own library or the bytes
(`expectedIds`), whether they decode to TEXT, and how many tokens were written.
"""
import json
import logging
import pathlib
import warnings

import sentencepiece
import torch
import torchvision
import transformers
from safetensors.torch import load_file

import jobs


class Listener(logging.Handler):
    """Of the root logger, and of transformers', which keeps its records to itself."""

    LOGGERS = (logging.getLogger(), logging.getLogger("transformers"))

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []

    def emit(self, record):
        self.said.append(f"{record.name}: {record.getMessage()}")

    def __enter__(self):
        for logger in self.LOGGERS:
            logger.addHandler(self)
        self.warnings = warnings.catch_warnings(record=True)
        self.caught = self.warnings.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(self, *failure):
        self.warnings.__exit__(*failure)
        for logger in self.LOGGERS:
            logger.removeHandler(self)
        self.said += [f"{w.category.__name__}: {w.message}" for w in self.caught]


def expected_ids(folder, text):
    model = pathlib.Path(folder) / "tokenizer.model"
    if not model.exists():
        return list(text.encode())
    return sentencepiece.SentencePieceProcessor(model_file=str(model)).encode(text)


def load_gpt(folder, text):
    with Listener() as listener:
        model = transformers.AutoModelForCausalLM.from_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        inputs = tokenizer(text, return_tensors="pt")
        made = model.generate(**inputs, max_new_tokens=5)
    ids = inputs["input_ids"][0].tolist()
    return {
        "said": listener.said,
        "ids": ids,
        "expectedIds": expected_ids(folder, text),
        "decoded": tokenizer.decode(ids) == text,
        "written": made.shape[1] - len(ids),
        "temperature": model.generation_config.temperature,
        "topK": model.generation_config.top_k,
        "topP": model.generation_config.top_p,
    }


def load_translation(folder, text):
    with Listener() as listener:
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model.generate(**tokenizer(text, return_tensors="pt"))
    return {"said": listener.said, "model": type(model).__name__}


def load_resnet(folder):
    folder = pathlib.Path(folder)
    with Listener() as listener:
        config = json.loads((folder / "config.json").read_text())
        model = getattr(torchvision.models, config["architecture"])(
            num_classes=config["num_classes"]
        )
        model.load_state_dict(load_file(folder / "model.safetensors"))
    return {"said": listener.said}


torch.manual_seed(1)
jobs.run(gpt=load_gpt, translation=load_translation, resnet=load_resnet)
