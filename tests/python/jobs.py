# SPDX-License-Identifier: Apache-2.0
"""Several jobs of one script in one process: to import torch takes longer than most of them."""
import json
import sys


def run(**kinds):
    """Takes the command line's JSON object of jobs by name, each [KIND, ARGUMENT...], and prints
    one of what the functions of those kinds returned, by the same names."""
    jobs = json.loads(sys.argv[1])
    print(json.dumps({name: kinds[kind](*rest) for name, (kind, *rest) in jobs.items()}))
