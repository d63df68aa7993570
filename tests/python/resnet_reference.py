# SPDX-License-Identifier: Apache-2.0
"""torchvision's ResNet beside the trainer's.

`make` writes a model of torchvision's as it comes from its constructor, with made-up pictures and
labels, for resnet_dump. `compare` does once more what resnet_dump did and returns relative
differences (Euclidean norms; of many tensors the worst one and its name).
"""
import torch
import torchvision
from safetensors.torch import load_file, save_file
from torch.nn import functional as F

from flops import flops_of

CLASSES, STEPS, BATCH, SIZE = 10, 5, 4, 64
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def make(kind, path):
    torch.manual_seed(5)
    model = getattr(torchvision.models, kind)(num_classes=CLASSES)
    pictures = torch.randint(256, (STEPS, BATCH, 3, SIZE, SIZE))
    labels = torch.randint(CLASSES, (STEPS, BATCH))
    save_file({**model.state_dict(), "pictures": pictures, "labels": labels}, path)


def normalized(pictures):
    scaled = torchvision.transforms.functional.normalize(pictures.float() / 255, MEAN, DEVIATION)
    return scaled.to(memory_format=torch.channels_last)


def load(kind, tensors, prefix=""):
    """Strictly: a name too many or too few is an error."""
    model = getattr(torchvision.models, kind)(num_classes=CLASSES)
    own = {name.removeprefix(prefix): tensor for name, tensor in tensors.items()
           if name.startswith(prefix)}
    model.load_state_dict(own, strict=True)
    return model.to(memory_format=torch.channels_last)


def groups(model):
    parameters = list(model.parameters())
    return [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": 1e-4},
            {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0}]


def recompute(model, pictures, labels):
    torch.set_num_threads(1)  # as resnet_dump: sums are taken in the same order
    first = normalized(pictures[0])
    with torch.no_grad():
        logits = model.eval()(first)
    dump = {"evalLogits": logits, "evalLoss": F.cross_entropy(logits, labels[0]),
            "flops": torch.tensor([float(flops_of(lambda: model(first)))])}
    optimizer = torch.optim.SGD(groups(model), lr=0.01, momentum=0.9)
    model.train()
    losses = []
    for step in range(STEPS):
        optimizer.zero_grad()
        scores = model(normalized(pictures[step]))
        loss = F.cross_entropy(scores, labels[step], label_smoothing=0.1)
        loss.backward()
        if step == 0:
            dump |= {"gradient." + n: p.grad.clone() for n, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.detach())
    dump["losses"] = torch.stack(losses)
    dump |= {"after." + name: tensor.clone() for name, tensor in model.state_dict().items()}
    with torch.no_grad():
        dump["trainLogits"] = model(first)
    return dump


def difference(mine, theirs):
    mine, theirs = mine.double(), theirs.double()
    assert mine.shape == theirs.shape
    return float((mine - theirs).norm() / max(theirs.norm(), 1e-12))


def worst(differences):
    name = max(differences, key=differences.get)
    return {"tensor": name, "difference": differences[name]}


def compare(kind, path, dump_path):
    tensors, dump = load_file(path), load_file(dump_path)
    pictures, labels = tensors.pop("pictures"), tensors.pop("labels")
    expected = recompute(load(kind, tensors), pictures, labels)
    assert dump.keys() == expected.keys(), dump.keys() ^ expected.keys()
    apart = {name: difference(dump[name], expected[name]) for name in expected}
    statistics = ("running_mean", "running_var", "num_batches_tracked")
    # Loads as it is, and computes the same.
    loaded = load(kind, dump, "after.").train()
    with torch.no_grad():
        apart["loaded"] = difference(loaded(normalized(pictures[0])), dump["trainLogits"])
    report = {
        name: apart[name] for name in ("evalLogits", "evalLoss", "trainLogits", "losses", "loaded", "flops")
    }
    report["gradients"] = worst({n: d for n, d in apart.items() if n.startswith("gradient.")})
    after = {n: d for n, d in apart.items() if n.startswith("after.")}
    report["statistics"] = worst({n: d for n, d in after.items() if n.endswith(statistics)})
    report["parameters"] = worst({n: d for n, d in after.items() if not n.endswith(statistics)})
    report["batches"] = int(dump["after.bn1.num_batches_tracked"])
    return report


def make_state_dict(kind, path):
    """As DistributedDataParallel has it after a step."""
    torch.manual_seed(6)
    model = getattr(torchvision.models, kind)(num_classes=CLASSES)
    model(torch.randn(2, 3, SIZE, SIZE))
    torch.save({"module." + name: tensor for name, tensor in model.state_dict().items()}, path)


def compare_state_dicts(kind, path, folder):
    """Whether the exported FOLDER loads, strictly, and is what PATH was."""
    ours = load(kind, load_file(folder + "/model.safetensors")).state_dict()
    theirs = torch.load(path)
    return all(torch.equal(tensor, theirs["module." + name]) for name, tensor in ours.items())
