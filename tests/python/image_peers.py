# SPDX-License-Identifier: Apache-2.0
"""The jobs of tst_image_peer, as jobs.py takes them; the modules say what each is."""
import image_run
import jobs
import picture_reference
import resnet_reference

jobs.run(
    make_resnet=resnet_reference.make,
    compare_resnet=resnet_reference.compare,
    make_state_dict=resnet_reference.make_state_dict,
    compare_state_dicts=resnet_reference.compare_state_dicts,
    make_views=picture_reference.make,
    compare_views=picture_reference.compare,
    make_run=image_run.make,
    judge_run=image_run.judge,
)
