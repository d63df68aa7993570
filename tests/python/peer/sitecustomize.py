# SPDX-License-Identifier: Apache-2.0
"""Makes `import torch` work in every Python process that has this folder on its PYTHONPATH:
finds the wheel that the trainer was built with and binds lazily (see ../stand_ins.cmake)."""
import os
import sys

sys.setdlopenflags(os.RTLD_LAZY)
if os.environ.get("RINGMASTER_TORCH"):
    sys.path.append(os.path.dirname(os.environ["RINGMASTER_TORCH"]))
