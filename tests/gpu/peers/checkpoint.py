# SPDX-License-Identifier: Apache-2.0
"""Peer of C2: T1's loop in eager mode with torch.distributed.checkpoint.async_save as its authors
advise: staged into pinned memory on a stream and a thread of its own, written by another process.

Prints the milliseconds of each step, waited for, with the call of async_save() behind it.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.checkpoint import async_save
from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions
from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

import common
import gpt


def tensors_of(training):
    """Weights and moments by name, as the trainer's checkpoint has them."""
    tensors = dict(training.model.state_dict())
    names = {parameter: name for name, parameter in training.model.named_parameters()}
    for parameter, state in training.optimizer.state.items():
        tensors |= {f"{names[parameter]}.{kind}": value for kind, value in state.items()}
    return tensors


class Saver:
    def __init__(self, chosen):
        cuda = chosen.device == "cuda"
        self.folder = chosen.folder
        self.staging = StagingOptions(use_pinned_memory=cuda, use_shared_memory=True,
                                      use_async_staging=True, use_non_blocking_copy=cuda)
        self.stager = self.response = None

    def start(self, tensors, number):
        self.wait()
        self.stager = DefaultStager(self.staging)  # torch 2.11 clears it after one use
        self.response = async_save(
            tensors, checkpoint_id=os.path.join(self.folder, str(number)), async_stager=self.stager,
            async_checkpointer_type=AsyncCheckpointerType.PROCESS,
        )

    def release(self):
        """Before anything that changes weights or moments."""
        if self.response:
            self.response.staging_completion.result()

    def wait(self):
        if self.response:
            self.response.upload_completion.result()
            self.stager.close()


def timed_steps(training, saver):
    row, laps = training.row, []
    for number in range(row["steps"]):
        began = time.perf_counter()
        loss = training.gradients(number)
        saver.release()
        training.update()
        loss.item()
        if (number + 1) % row["every"] == 0 and number + 1 < row["steps"]:
            saver.start(tensors_of(training), number + 1)
        laps.append(1e3 * (time.perf_counter() - began))
    return laps


def main():
    training = gpt.make_training(__doc__, "C2")
    if not training.chosen.folder:
        sys.exit("--folder is missing")
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo"}  # no network is needed
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    saver = Saver(training.chosen)
    saver.start(tensors_of(training), 0)
    saver.wait()  # the writing process has started, which a run has to wait for once
    laps = timed_steps(training, saver)
    saver.wait()
    common.say(ms=laps, torch=torch.__version__)


if __name__ == "__main__":  # which the writing process imports again
    main()
