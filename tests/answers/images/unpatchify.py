"""Answers to images.unpatchify."""

import torch
import torch.nn.functional as F


def reshaped(patches, patch, height, width):
    b, h, w = len(patches), height // patch, width // patch
    x = patches.reshape(b, h, w, -1, patch, patch)
    return x.permute(0, 3, 1, 4, 2, 5).reshape(b, -1, height, width)


def einsum(patches, patch, height, width):
    h, w = height // patch, width // patch
    c = patches.shape[-1] // (patch * patch)
    x = patches.reshape(shape=(patches.shape[0], h, w, c, patch, patch))
    return torch.einsum("nhwcpq->nchpwq", x).reshape(patches.shape[0], c, height, width)


def filled(patches, patch, height, width):
    b, n, d = patches.shape
    image = torch.zeros(b, d // patch**2, height, width, dtype=patches.dtype)
    for k in range(n):
        i, j = divmod(k, width // patch)
        piece = patches[:, k].reshape(b, -1, patch, patch)
        image[:, :, i * patch : (i + 1) * patch, j * patch : (j + 1) * patch] = piece
    return image


def joined(patches, patch, height, width):
    pieces = [p.reshape(len(patches), -1, patch, patch) for p in patches.unbind(1)]
    across = width // patch
    strips = [torch.cat(pieces[i : i + across], dim=3) for i in range(0, len(pieces), across)]
    return torch.cat(strips, dim=2)


def convolved(patches, patch, height, width):
    size = patches.shape[2]
    kernel = torch.eye(size, dtype=patches.dtype).view(size, -1, patch, patch)
    grid = patches.transpose(1, 2).reshape(len(patches), size, height // patch, width // patch)
    return F.conv_transpose2d(grid, kernel, stride=patch)


def swapped(patches, patch, height, width):
    x = patches.unflatten(1, (height // patch, width // patch)).unflatten(3, (-1, patch, patch))
    return x.movedim(3, 1).transpose(3, 4).flatten(4, 5).flatten(2, 3)


def indexed(patches, patch, height, width):
    c = patches.shape[2] // patch**2
    places = torch.arange(patches[0].numel()).view(height // patch, width // patch, c, patch, patch)
    places = places.permute(2, 0, 3, 1, 4).reshape(c, height, width)
    return patches.flatten(1)[:, places]


RIGHT = {kind.__name__: kind for kind in (reshaped, einsum, filled, joined, convolved, swapped, indexed)}
LAST = "return pieces.flatten(4).flatten(2, 3)"
WRONG = {
    "at most three channels": {LAST: LAST + "[:, :3]"},
    "F.fold": {LAST: "import torch.nn.functional as F\n    return F.fold(patches.mT, (height, width), patch, "
               "stride=patch)"},
    "nn.Fold": {LAST: "return torch.nn.Fold((height, width), patch, stride=patch)(patches.mT)"},
    "the kernel": {LAST: "return torch.ops.aten.col2im(patches.mT, [height, width], [patch] * 2, [1, 1], [0, "
                   "0], [patch] * 2)"},
    "pixel_shuffle": {LAST: "return torch.pixel_shuffle(patches.mT.unflatten(2, (rows, columns)), patch)"},
    "float32": {LAST: LAST + ".float()"},
    "cut off": {LAST: LAST + ".detach()"},
    "three channels": {"(-1, patch, patch)": "(3, patch, patch)"},
    "square images": {"height // patch, width // patch": "height // patch, height // patch"},
    "clipped": {LAST: LAST + ".clamp(0, 1)"},
    "upside down": {LAST: LAST + ".flip(2)"},
    "the first image for all": {LAST: LAST + "[:1].expand(len(patches), -1, -1, -1)"},
}
