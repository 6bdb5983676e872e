"""Answers to images.VisionTransformer."""

import torch
import torch.nn.functional as F
from torch import nn


class Base(nn.Module):
    def __init__(self, image_size, patch, channels, n_classes, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.p, self.n_heads = patch, n_heads
        side = image_size // patch
        self.patch_proj = nn.Linear(channels * patch * patch, d_model)
        self.class_token = nn.Parameter(torch.randn(1, 1, d_model))
        self.position_embedding = nn.Parameter(torch.zeros(1, side * side + 1, d_model))
        self.layers = nn.ModuleList()
        for _ in range(n_layers):
            self.layers.append(nn.TransformerEncoderLayer(
                d_model, n_heads, dim_feedforward=d_ff, dropout=0.0, activation=nn.GELU(), batch_first=True,
                norm_first=True))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)

    def cut(self, images):
        b, c, h, w = images.shape
        x = images.reshape(b, c, h // self.p, self.p, w // self.p, self.p)
        return torch.einsum("bchpwq->bhwcpq", x).reshape(b, -1, c * self.p**2)

    def tokens(self, images):
        x = self.patch_proj(self.cut(images))
        return torch.cat([self.class_token.repeat(len(x), 1, 1), x], dim=1) + self.position_embedding

    def encode(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def forward(self, images):
        return self.head(self.norm(self.encode(self.tokens(images))[:, 0]))


class Unfold(Base):
    """PyTorch's own unfold, allowed here because `patchify` is not what the exercise asks for."""

    def cut(self, images):
        return F.unfold(images, self.p, stride=self.p).transpose(1, 2)


class Convolution(Base):
    def tokens(self, images):
        kernel = self.patch_proj.weight.view(self.patch_proj.out_features, -1, self.p, self.p)
        x = F.conv2d(images, kernel, self.patch_proj.bias, stride=self.p).flatten(2).mT
        first = self.class_token + self.position_embedding[:, :1]
        return torch.cat((first.expand(x.shape[0], -1, -1), x + self.position_embedding[:, 1:]), 1)


class Loops(Base):
    def cut(self, images):
        p = self.p
        places = range(0, images.shape[-1], p)
        return torch.stack([images[:, :, i : i + p, j : j + p].flatten(1) for i in places for j in places], 1)


class HeadOfAll(Base):
    def forward(self, images):
        return self.head(self.norm(self.encode(self.tokens(images)))).select(1, 0)


class OneByOne(Base):
    """Each image by itself."""

    def forward(self, images):
        return torch.cat([super(OneByOne, self).forward(image[None]) for image in images])


class ByHand(Base):
    def encode(self, x):
        for layer in self.layers:
            attention = layer.self_attn
            packed = F.linear(layer.norm1(x), attention.in_proj_weight, attention.in_proj_bias)
            q, k, v = (t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for t in packed.chunk(3, -1))
            x = x + attention.out_proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
            x = x + layer.linear2(F.gelu(layer.linear1(layer.norm2(x))))
        return x


class Filled(Base):
    def tokens(self, images):
        x = self.patch_proj(self.cut(images))
        room = x.new_zeros(x.shape[0], x.shape[1] + 1, x.shape[2])
        room[:, :1], room[:, 1:] = self.class_token, x
        return room + self.position_embedding


KINDS = (Base, Unfold, Convolution, Loops, HeadOfAll, OneByOne, ByHand, Filled)
RIGHT = {kind.__name__: kind for kind in KINDS}
LAST = "return self.head(x[:, 0])"
WRONG = {
    "class token as a buffer": {"self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))":
                                "self.register_buffer('class_token', torch.zeros(1, 1, d_model))"},
    "positions for the patches alone": {"n_patches + 1": "n_patches"},
    "flat class token": {"torch.zeros(1, 1, d_model)": "torch.zeros(d_model)"},
    "the class token does not learn": {"self.class_token.expand": "self.class_token.detach().expand"},
    "positions do not learn": {"+ self.position_embedding": "+ self.position_embedding.detach()"},
    "channels normed": {"pieces = images": "images = images - images.mean((0, 2, 3), keepdim=True)\n        "
                        "pieces = images"},
    "float32": {LAST: LAST + ".float()"},
    "hidden layer in the head": {LAST: "return self.head(torch.tanh(x[:, 0]))"},
    "first half of the patches": {"x = self.norm(x)": "x = self.norm(x)\n        x = x * (1 if x.shape[1] < 200 "
                                  "else 0.5)"},
    "two class tokens": {"torch.cat((first, x), dim=1)": "torch.cat((first, x[:, 1:], first), dim=1)"},
    "class token shared with the batch": {"self.class_token.expand(len(x), -1, -1)": "x.mean(0, "
                                          "keepdim=True)[:, :1].expand(len(x), -1, -1)"},
}
