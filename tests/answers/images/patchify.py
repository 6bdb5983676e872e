"""Answers to images.patchify."""

import torch
import torch.nn.functional as F


def refuse(h, w, patch):
    if h % patch != 0 or w % patch != 0:
        raise ValueError("image size must be divisible by the patch size")


def reshaped(images, patch):
    b, c, h, w = images.shape
    refuse(h, w, patch)
    x = images.reshape(b, c, h // patch, patch, w // patch, patch)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(b, (h // patch) * (w // patch), c * patch * patch)


def unfolded(images, patch):
    """Tensor.unfold, twice."""
    refuse(*images.shape[-2:], patch)
    x = images.unfold(2, patch, patch).unfold(3, patch, patch)  # B C h w p p
    return x.permute(0, 2, 3, 1, 4, 5).flatten(1, 2).flatten(2)


def loops(images, patch):
    h, w = images.shape[2:]
    refuse(h, w, patch)
    rows = [images[:, :, i : i + patch, j : j + patch].flatten(1)
            for i in range(0, h, patch) for j in range(0, w, patch)]
    return torch.stack(rows, dim=1)


def einsum(images, patch):
    b, c, h, w = images.shape
    refuse(h, w, patch)
    x = images.contiguous().view(b, c, h // patch, patch, w // patch, patch)
    return torch.einsum("bchpwq->bhwcpq", x).reshape(b, -1, c * patch**2)


def convolved(images, patch):
    """A convolution that picks pixels."""
    c, h, w = images.shape[1:]
    refuse(h, w, patch)
    size = c * patch * patch
    kernel = torch.eye(size, dtype=images.dtype).view(size, c, patch, patch)
    return F.conv2d(images, kernel, stride=patch).flatten(2).transpose(1, 2)


def split(images, patch):
    refuse(images.shape[2], images.shape[3], patch)
    strips = images.split(patch, dim=2)
    pieces = [piece for strip in strips for piece in strip.split(patch, dim=3)]
    return torch.cat([p.reshape(len(images), 1, -1) for p in pieces], dim=1)


def indexed(images, patch):
    _, c, h, w = images.shape
    refuse(h, w, patch)
    n = torch.arange(c * h * w).view(c, h // patch, patch, w // patch, patch).permute(1, 3, 0, 2, 4)
    return images.flatten(1)[:, n.reshape(-1, c * patch * patch)]


RIGHT = {kind.__name__: kind for kind in (reshaped, unfolded, loops, einsum, convolved, split, indexed)}
VIEW = """
def patchify(images, patch):
    samples, channels, height, width = images.shape
    if height % patch or width % patch:
        raise ValueError("patch must divide both sizes")
    pieces = images.view(samples * channels, height // patch, patch, width // patch, patch).transpose(2, 3)
    return pieces.reshape(samples, channels, -1, patch * patch).transpose(1, 2).flatten(2)
"""
WRONG = {
    "a view of samples and channels": VIEW,
    "F.unfold": {"return pieces": "import torch.nn.functional as F\n    return F.unfold(images, patch, "
                 "stride=patch).mT\n    return pieces"},
    "nn.Unfold": {"return pieces": "return torch.nn.Unfold(patch, stride=patch)(images).transpose(1, 2)\n    "
                  "return pieces"},
    "im2col": {"return pieces": "return torch._C._nn.im2col(images, [patch] * 2, [1, 1], [0, 0], [patch] * "
               "2).mT\n    return pieces"},
    "the kernel": {"return pieces": "return torch.ops.aten.im2col(images, [patch] * 2, [1, 1], [0, 0], [patch] "
                   "* 2).mT\n    return pieces"},
    "pixel_unshuffle": {"return pieces": "return torch.pixel_unshuffle(images, patch).flatten(2).mT\n    return "
                        "pieces"},
    "nn.PixelUnshuffle": {"return pieces": "return torch.nn.PixelUnshuffle(patch)(images).flatten(2).mT\n    "
                          "return pieces"},
    "the other kernel": {"return pieces": "return torch.ops.aten.pixel_unshuffle(images, patch).flatten(2).mT\n "
                         "   return pieces"},
    "float32": {"flatten(1, 2)": "flatten(1, 2).float()"},
    "cut off": {"flatten(1, 2)": "flatten(1, 2).detach()"},
    "last patch lost": {"flatten(1, 2)": "flatten(1, 2)[:, : max(1, height // patch * width // patch - 1)]"},
    "an assertion": {"    if height": "    assert not (height % patch or width % patch)\n    if height"},
    "NumPy": {"return pieces.flatten(3).flatten(1, 2)": "return torch.from_numpy(pieces.flatten(3).flatten(1, "
              "2).detach().numpy())"},
    "scaled": {"flatten(1, 2)": "flatten(1, 2) * 2 - 1"},
}
