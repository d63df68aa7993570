# SPDX-License-Identifier: Apache-2.0
"""sacreBLEU's scores of what text_metrics_dump scored.

    sacrebleu_reference.py LINES

Prints the same JSON: BLEU and chrF of all lines as one corpus, and of each as a corpus of one.
"""
import json
import pathlib
import sys

from sacrebleu.metrics import BLEU, CHRF

METRICS = (BLEU(), CHRF())


def scores(pairs):
    translations, references = zip(*pairs)
    return [metric.corpus_score(translations, [references]).score for metric in METRICS]


lines = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").split("\n")[:-1]
pairs = [line.split("\t") for line in lines]
print(json.dumps({"corpus": scores(pairs), "sentences": [scores([pair]) for pair in pairs]}))
