# SPDX-License-Identifier: Apache-2.0
"""What text_metrics_dump scored, by sacreBLEU and by rapidfuzz's edits.

    text_metrics_reference.py LINES

Prints the same JSON: BLEU, chrF, CER and WER of all lines as one corpus, and of each as a corpus of one.
"""
import json
import pathlib
import sys

from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import BLEU, CHRF

METRICS = (BLEU(), CHRF())


def error_rate(pairs, parts):
    edits = sum(Levenshtein.distance(parts(ours), parts(theirs)) for ours, theirs in pairs)
    return edits / max(1, sum(len(parts(theirs)) for _, theirs in pairs))


def scores(pairs):
    translations, references = zip(*pairs)
    return [metric.corpus_score(translations, [references]).score for metric in METRICS] + [
        error_rate(pairs, parts) for parts in (list, str.split)]


lines = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").split("\n")[:-1]
pairs = [line.split("\t") for line in lines]
print(json.dumps({"corpus": scores(pairs), "sentences": [scores([pair]) for pair in pairs]}))
