# %% [markdown]
r"""
# 19 Read an image: what are the tokens of a picture?

Here are six handwritten digits. Below each of them are the same sixteen squares in a different order, the
same order for all six. Can you read the lower row?

![The digits 0 to 5 as images of 8 x 8 pixels, each cut into sixteen squares by thin lines. Below each, the same
sixteen squares in another order; the digits cannot be read any more](../images/scrambled_digits.svg)

A vision transformer can read it as well as the upper row, and in section 4 you will prove that without
retraining anything. This is a strength of these models, and a weakness, too.

A Transformer reads a sequence of vectors and does not ask where they come from. Cut an image into squares, make
a vector of each, and the layers that read texts read images. In this lesson you will **build**

1. the cut of an image into patches,
2. the way back,
3. the proof that the convolution in published models is a linear layer on patches,
4. a vision transformer,
5. a map of what it has looked at.

Then you train it on real handwriting, take its positions away, and find out whether the map tells the truth.

**You need** lessons 04 (heads), 07 (positions) and 16 (a classifier). You may use PyTorch's own layers, but
not `F.unfold`, `F.fold` or the pixel shuffles in the first two exercises.

**You spend** about N minutes.

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("images.patchify")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with
`python -m autograder lab` (the README has the exact line for your system), or choose a kernel whose Python has
the course installed. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress
from autograder.notebook.experiment import attention_weights, train
from autograder.notebook.lessons.images import image_row, jittered

# %% [markdown]
r"""
## 1. What are the tokens of an image?

**The question.** An image of 224 x 224 pixels has 50,176 of them. If every pixel were a token, one attention
matrix would have 2.5 billion entries. What is a better token?

A small square, a **patch**. Neighbouring pixels belong together, and there are far fewer patches than pixels.
The values of all pixels in a patch, written in one row, are its vector.

![An image of sixteen numbered pixels, three times, with four colours for four tokens. patchify takes squares:
the first holds 0, 1, 4, 5. view takes stripes: 0, 1, 2, 3. Slicing with a step takes every second pixel: 0, 2,
8, 10](../images/patch_orders.svg)

By hand: the image above, in patches of 2 x 2. The first patch holds 0, 1, 4 and 5; the second, to its right, 2,
3, 6 and 7.
"""

# %%
pixels, n_patches = 224 * 224, (224 // 16) ** 2
print(f"pixels: {pixels:,}, entries of a table: {pixels**2 / 1e9:.1f} billion")
print(f"patches of 16 x 16: {n_patches}, entries of a table: {n_patches**2:,}")
image = torch.arange(16).reshape(4, 4)
for row in (0, 2):
    for column in (0, 2):
        print(image[row : row + 2, column : column + 2].flatten().tolist())

# %% [markdown]
r"""
**The formula.** Patch $n = i \cdot W/P + j$ is the one in row $i$ and column $j$ of patches. Its feature number
$(c P + a) P + b$ is

$$\text{image}_{c,\; iP + a,\; jP + b}$$

- $c$: the channel (red, green, blue); $a$ and $b$, from 0 to $P - 1$: row and column *within* the patch
- $i$, from 0 to $H/P - 1$, and $j$, from 0 to $W/P - 1$: row and column *of* the patch

So patches come row by row, and within a patch all of one channel comes first.

### Exercise: `patchify`

Split $H$ into two axes, and $W$ too. Then move the axes, and join them again.
"""

# %% exercise: images.patchify
def patchify(images, patch):
    """Cut images into patches, row by row; within a patch: channel, row, column.

    Shapes:
        images: (B, C, H, W)
        returns: (B, N, C * patch * patch), N = H / patch * W / patch
    Raises ValueError unless patch divides both H and W.

    >>> patchify(torch.arange(16).reshape(1, 1, 4, 4), 2)[0, 1].tolist()
    [2, 3, 6, 7]

    Dosovitskiy et al. 2021, section 3.1.
    """
    ### BEGIN SOLUTION
    if images.shape[2] % patch or images.shape[3] % patch:
        raise ValueError("the patches do not fill the image")
    pieces = images.unflatten(3, (-1, patch)).unflatten(2, (-1, patch))
    return pieces.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *`view(B, N, -1)`.* Memory is read row by row over the whole image, so such a "patch" is a stripe (the
  second drawing above). A model can be trained on stripes, too, and nothing warns you.
- *Every second pixel* (the third drawing): `reshape(P, H // P)` instead of `reshape(H // P, P)`.
- *Pixels that fill no patch.* Slicing drops the edge of an image of 30 x 30 without a word.

**See it run.** A square of 224 x 224 pixels from a photograph that comes with scikit-learn, in three colours.
(The flower: [vultilion on Flickr](https://www.flickr.com/photos/vultilion/6056698931/), [CC BY
2.0](https://creativecommons.org/licenses/by/2.0/), cut to a square.)
"""

# %%
from sklearn.datasets import load_digits, load_sample_image

flower = torch.tensor(load_sample_image("flower.jpg")).permute(2, 0, 1)[:, 100:324, 200:424] / 255
cut = patchify(flower[None], 16)
print("image:", tuple(flower.shape), "patches:", tuple(cut.shape))
coarse = patchify(flower[None], 56)
print("with a patch size of 56:", tuple(coarse.shape))
names = ["patches of 16", "patches of 56"]
image_row([flower, flower], names, "A flower, ready to be cut", patch=[16, 56])

# %% [markdown]
r"""
Smaller patches show more and cost more. Half the patch size means four times as many tokens, and attention
matrices with sixteen times as many entries.

## 2. Can you get the image back?

**The question.** Is anything lost? If a model *writes* patches, as some image generators do, how do you see
them as an image?

Nothing is lost. Only the order of the numbers has changed. Look at the axes. On the way there, four axes
trade places, and on the way back they return:

![Two lines of six axes with an arrow from each axis above to its place below. The image: B, C, H / P, P, W / P,
P. The patches: B, H / P, W / P, C, P, P, where the two axes of patches make N and the last three make the
features](../images/patch_axes.svg)

By hand: pixel 12 of the small image is in row 3, column 0. Among the patches it is in patch 2 (counted from 0),
the one at the lower left, as its feature 2, the first of the patch's second row.
"""

# %%
print("12 in the image, row and column:", (image == 12).nonzero()[0].tolist())
patches = patchify(image[None, None], 2)[0]
print("12 in the patches, patch and feature:", (patches == 12).nonzero()[0].tolist())
features = [f"feature {i}" for i in range(4)]
names = [f"patch {i}" for i in range(4)]
figures.table(patches, names, features, title="Four patches of sixteen pixels")

# %% [markdown]
r"""
**The formula.** For every image $x$, of shape $(B, C, H, W)$:

$$\operatorname{unpatchify}\bigl(\operatorname{patchify}(x, P), P, H, W\bigr) = x$$

### Exercise: `unpatchify`

The number of channels is not given; it follows from the number of features.
"""

# %% exercise: images.unpatchify
def unpatchify(patches, patch, height, width):
    """Return the images that `patchify` cut into these patches.

    Shapes:
        patches: (B, N, C * patch * patch), N = height / patch * width / patch
        returns: (B, C, height, width)

    >>> patches = torch.tensor([[[0, 1, 4, 5], [2, 3, 6, 7]]])
    >>> unpatchify(patches, 2, 2, 4)[0, 0].tolist()
    [[0, 1, 2, 3], [4, 5, 6, 7]]

    He et al. 2022, section 3 (patches put together again).
    """
    ### BEGIN SOLUTION
    rows, columns = height // patch, width // patch
    pieces = patches.unflatten(2, (-1, patch, patch)).unflatten(1, (rows, columns))
    return pieces.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The same `permute` again.* It is not its own inverse. Follow the arrows of the picture twice, and $C$ is
  not back in its place.
- *Height and width swapped.* No square image shows it.

**See it run.** There and back, and then once more with the patches shuffled on the way:
"""

# %%
wide = torch.randn(2, 3, 4, 6, generator=torch.Generator().manual_seed(0))
print("4 x 6, the same image:", torch.equal(unpatchify(patchify(wide, 2), 2, 4, 6), wide))
print("the flower again:", torch.equal(unpatchify(cut, 16, 224, 224)[0], flower))
shuffle = torch.randperm(16, generator=torch.Generator().manual_seed(0))
shuffled = unpatchify(coarse[:, shuffle], 56, 224, 224)[0]
names = ["there and back", "shuffled on the way"]
image_row([flower, shuffled], names, "Sixteen patches", patch=56)

# %% [markdown]
r"""
## 3. Is that a convolution?

**The question.** Look into the [vision transformer of its
authors](https://github.com/google-research/vision_transformer/blob/main/vit_jax/models_vit.py), and you find no
`patchify`. It begins with a **convolution**, in which a small grid of weights, the **kernel**,
is laid on the image, multiplied pixel by pixel, summed up, and moved on by its **stride**. Here the stride is as
large as the kernel. Is that anything more than a linear layer on patches?

![An image of sixteen pixels with its first patch, 0, 1, 4, 5, framed, and a kernel with the rows 1, 0 and 0, -2.
Below, the kernel in a row over the patch in a row: the product is 0 - 10 = -10](../images/conv_as_layer.svg)

It is not. The kernel never covers parts of two patches. It meets one patch after the other, and what it
computes there is a dot product, which is one output of a linear layer that reads the patch.

By hand: the kernel with the rows (1, 0) and (0, -2) on the first patch, 0, 1, 4, 5, gives $0 - 10 = -10$.
"""

# %%
kernel = torch.tensor([[1.0, 0], [0, -2]])
by_layer = patches.float() @ kernel.flatten()
by_convolution = F.conv2d(image[None, None].float(), kernel[None, None], stride=2)[0, 0]
print("the layer on four patches:", by_layer.tolist())
print("the convolution on the image:", by_convolution.tolist())

# %% [markdown]
r"""
**The formula.** With a kernel $K$ of shape $(d, C, P, P)$, one table of $C \cdot P \cdot P$ weights for each of
$d$ outputs, and a bias $\beta$ of shape $(d)$:

$$\operatorname{conv}(x)_{\text{at patch } n} = W\, \text{patch}_n + \beta, \qquad
W_{o,\; (c P + a) P + b} = K_{o, c, a, b}$$

- $W$: shape $(d, C P^2)$, as `nn.Linear` stores it
- the right-hand side is the index of section 1 again: channel first, then row, then column

### Exercise: `conv_to_linear`

The same numbers in another shape, but in a separate layer that shares no memory with the convolution.
"""

# %% exercise: images.conv_to_linear
def conv_to_linear(conv):
    """Return a new nn.Linear that does to a patch from `patchify` what conv does there.

    The new layer can be trained, and shares nothing with conv, an nn.Conv2d(C, d,
    kernel_size=patch, stride=patch) with a bias.

    Shapes:
        the new layer: (..., C * patch * patch) -> (..., d)

    >>> conv = nn.Conv2d(3, 5, 2, stride=2)
    >>> layer = conv_to_linear(conv)
    >>> images = torch.ones(1, 3, 4, 4)
    >>> torch.allclose(layer(torch.ones(12)), conv(images)[0, :, 0, 0], atol=1e-5)
    True

    Dosovitskiy et al. 2021, section 3.1.
    """
    ### BEGIN SOLUTION
    weight = conv.weight.flatten(1)
    layer = nn.Linear(weight.shape[1], weight.shape[0]).to(weight)
    with torch.no_grad():
        layer.weight.copy_(weight)
        layer.bias.copy_(conv.bias)
    return layer
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *A view of the kernel.* `conv.weight.data.flatten(1)` is the same memory. Train one layer, and the other one
  moves.
- *Row, column, channel.* Some libraries store images with the channel last, and their kernels too. Read such
  weights with the channel first, and every shape fits while nearly every number is in the wrong place.

**See it run.** The first layer of ViT-B/16, the base model of the paper, at its real size, on the flower.
(The weights here are fresh ones. The sizes are what counts.)
"""

# %%
torch.manual_seed(0)
stem = nn.Conv2d(3, 768, 16, stride=16)
linear = conv_to_linear(stem)
with torch.no_grad():
    theirs = stem(flower[None]).flatten(2).mT
    mine = linear(cut)
count = sum(p.numel() for p in linear.parameters())
print(f"tokens: {tuple(mine.shape)}, parameters: {count:,}")
print("the same tokens:", torch.allclose(mine, theirs, atol=1e-4))

# %% [markdown]
r"""
The sentence "vision transformers have no convolutions" is both true and false. Their first layer is often
written as one. Its kernels do not overlap, and that makes it a linear layer.

## 4. Who reads the patches?

**The question.** In each layer all patches attend to each other. At the end there are as many vectors as
patches. Which of them knows the answer?

None more than any other. One way out is an extra token in front, the **class token**. It is learned, and
the same for every image. It has nothing to say itself. It attends to the patches, and at the end only this
token is read.

![Boxes joined by arrows: image, patchify, patch_proj; then a row of tokens, first the class token, then the
patches; plus position_embedding; layers; only token 0, normed; head, logits](../images/vit_flow.svg)

By hand: a digit of 8 x 8 pixels in patches of 2 x 2 makes 16 patches, so 17 tokens and 17 positions. Each
patch has 4 pixels, four numbers that become a vector of width `d_model`.
"""

# %%
per_side = 8 // 2
names = ["class", *(f"patch {i}" for i in range(per_side**2))]
print(f"patches: {per_side**2}, tokens: {len(names)}, pixels per patch: {2 * 2}")
print("from", names[0], "to", names[-1])

# %% [markdown]
r"""
**The formula** (Dosovitskiy et al. 2021, equations 1 to 4). With the class token $z$ and the positions $p$:

$$x = [z;\; W\, \text{patch}_0 + \beta;\; \dots;\; W\, \text{patch}_{N-1} + \beta] + p, \qquad
\text{logits} = \operatorname{head}\bigl(\operatorname{norm}(\operatorname{layers}(x)_0)\bigr)$$

- $x$ and $p$: $N + 1$ rows of width $d_{\text{model}}$; $p$ is learned, one row per token
- $\operatorname{layers}(x)_0$: token 0 of what the last layer returns
- no mask: every token may attend to every other

### Exercise: `VisionTransformer`

The layers are given.
"""

# %% exercise: images.VisionTransformer
class VisionTransformer(nn.Module):
    """Class logits of an image, read at the class token, which comes before the patches.

    Parts:
        patch_proj: nn.Linear(channels * patch * patch, d_model), for patches from `patchify`
        class_token: nn.Parameter (1, 1, d_model)
        position_embedding: nn.Parameter (1, N + 1, d_model), N = (image_size / patch)^2
        layers: nn.ModuleList of pre-norm layers, not causal; norm: nn.LayerNorm; head: nn.Linear to
            n_classes
    Shapes:
        images: (B, channels, image_size, image_size)
        returns: (B, n_classes)

    >>> model = VisionTransformer(8, 4, 1, 10, 12, 2, 16, 1)
    >>> tuple(model(torch.zeros(3, 1, 8, 8)).shape)
    (3, 10)

    Dosovitskiy et al. 2021, section 3.1.
    """

    def __init__(self, image_size, patch, channels, n_classes, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        kind = {"activation": "gelu", "batch_first": True, "norm_first": True}
        layers = [
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, 0.0, **kind) for _ in range(n_layers)
        ]
        ### BEGIN SOLUTION
        self.patch, n_patches = patch, (image_size // patch) ** 2
        self.patch_proj = nn.Linear(channels * patch**2, d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.position_embedding = nn.Parameter(0.02 * torch.randn(1, n_patches + 1, d_model))
        self.layers, self.norm = nn.ModuleList(layers), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)
        ### END SOLUTION

    def forward(self, images):
        ### BEGIN SOLUTION
        pieces = images.unflatten(3, (-1, self.patch)).unflatten(2, (-1, self.patch))
        x = self.patch_proj(pieces.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2))
        first = self.class_token.expand(len(x), -1, -1)
        x = torch.cat((first, x), dim=1) + self.position_embedding
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, 0]))
        ### END SOLUTION


# %% [markdown]
r"""
(The worked answer cuts the patches itself, so that it can be judged on its own. Yours may call `patchify`.)

**What goes wrong.**

- *The class token is added after the positions.* Then it has none, and the table of positions is one row short.
  The class token is the first of $N + 1$ tokens and has its own row.
- *One class token per image of the batch.* It has a batch axis of 1 and is expanded, so all images share it.
- *Another order within the patches.* A model trained from scratch does not mind, because the columns of
  `patch_proj` can take the same order. Published weights do.

### See the whole computation

Your model, drawn from a run on one image, with one layer. Find the place where 16 tokens become 17, and the one
where 17 become 1:
"""

# %%
torch.manual_seed(0)
small = VisionTransformer(8, 2, 1, 10, 16, 2, 32, 1)
draw(small, torch.rand(1, 1, 8, 8))

# %% [markdown]
r"""
For comparison, here is a model pieced together from lesson 11, where a token may only attend to itself and
those before it. What does the comparison say, and what does that do to a class token that comes first?
"""

# %%
def under_a_mask(layer, args, named):
    """What a layer is called with, and the mask of a language model."""
    n = args[0].shape[1]
    return args[:1], {"src_mask": torch.ones(n, n, dtype=torch.bool).triu(1)}


causal = VisionTransformer(8, 2, 1, 10, 16, 2, 32, 1)
for layer in causal.layers:
    layer.register_forward_pre_hook(under_a_mask, with_kwargs=True)
causal.load_state_dict(small.state_dict())
comparison = compare(causal, small, torch.rand(1, 1, 8, 8))
for name, model in (("causal", causal), ("yours", small)):
    one, other = model(torch.zeros(1, 1, 8, 8)), model(torch.ones(1, 1, 8, 8))
    print(f"{name}: the same logits for a white and a black image:", torch.equal(one, other))
comparison

# %% [markdown]
r"""
Under that mask the token in front attends only to itself, so every image gets the same logits. All shapes
fit. Only numbers give it away, such as a loss in training that stays at about $\log 10$, the loss of guessing.

**See it run.** Real handwriting: 1797 digits, 8 x 8 pixels each, which come with scikit-learn. The model
learns from 1297 of them and never sees the other 500. Train five models, from five seeds, for 600 steps
each:
"""

# %%
data = load_digits()
digits, labels = torch.tensor(data.images).float()[:, None] / 16, torch.tensor(data.target)
order = torch.randperm(len(digits), generator=torch.Generator().manual_seed(0))
learned, unseen = order[:1297], order[1297:]


def batches(seed, change):
    """Pairs of 64 images and their labels, again and again in a new order."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        for part in learned[torch.randperm(len(learned), generator=generator)].split(64):
            yield change(digits[part], generator), labels[part]


def loss_of(model, batch):
    return F.cross_entropy(model(batch[0]), batch[1])


def rate(step):
    """The learning rate: a warm-up over 50 steps, then down to 0 at step 600."""
    return 0.003 * min(1, (step + 1) / 50) * (1 - step / 600)


def trained(model, seed, change):
    """The model after 600 steps on `change(images, generator)` of the images, and its losses."""
    return model, train(model, batches(seed, change), loss_of, lr=rate, steps=600)


# %%
def as_they_are(images, generator):
    return images


def fresh(seed):
    torch.manual_seed(seed)
    return VisionTransformer(8, 2, 1, 10, 64, 4, 128, 2)


def right(model, images=digits[unseen]):
    """The share of the unseen images that the model reads correctly, in per cent."""
    with torch.no_grad():
        return 100 * (model(images).argmax(dim=-1) == labels[unseen]).float().mean().item()


def told(numbers):
    return ", ".join(f"{number:.1f}" for number in numbers)


# %%
plain = [trained(fresh(seed), seed, as_they_are) for seed in range(5)]
count = sum(p.numel() for p in plain[0][0].parameters())
print(f"{len(digits)} digits, {len(learned)} to learn from, {len(unseen)} unseen")
print(f"parameters: {count:,}")
print("right of the unseen, per cent:", told(right(model) for model, _ in plain))
print("loss of the last 20 steps:", *(f"{sum(losses[-20:]) / 20:.3f}" for _, losses in plain))

# %% [markdown]
r"""
The last losses are almost 0. The models know their 1297 digits by heart, and there is nothing left to learn
from them. There are more than fifty times as many parameters as images. One way out is to make new images
from the ones you have. In each batch every digit is rotated a little, moved by at most half a pixel, and made
a little larger or smaller, differently each time. It stays the same digit, but to the model it is a new
image. That is called **augmentation**:
"""

# %%
one = digits[learned[:1]].expand(5, -1, -1, -1)
copies = jittered(one, torch.Generator().manual_seed(0))
names = ["the digit", *(f"copy {k}" for k in range(5))]
image_row([one[0], *copies], names, "One handwritten digit, and five copies made of it", patch=2)

# %%
runs = [trained(fresh(seed), seed, jittered) for seed in range(5)]
models = [model for model, _ in runs]
scores = [right(model) for model in models]
print("right of the unseen, per cent:", told(scores))
print("more than 95 % on each seed:", min(scores) > 95)
smooth = {
    name: [[sum(losses[k : k + 20]) / 20 for k in range(0, 600, 20)] for _, losses in seeds]
    for name, seeds in (("as they are", plain), ("augmented", runs))
}
options = {"xlabel": "step", "ylabel": "loss, mean of 20 steps", "log_y": True}
figures.curves(smooth, range(10, 600, 20), title="Learning digits", **options)

# %%
def nearest(images):
    """How many are read correctly, in per cent, by the label of the most similar learned digit."""
    far = torch.cdist(images.flatten(1), digits[learned].flatten(1))
    return 100 * (labels[learned][far.argmin(dim=1)] == labels[unseen]).float().mean().item()


def linear_layer(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))


def convolutions(seed):
    """Three layers of kernels that overlap; the head reads the largest output of each kernel."""
    torch.manual_seed(seed)
    layers = [nn.Conv2d(channels, 32, 3, padding=1) for channels in (1, 32, 32)]
    parts = [part for layer in layers for part in (layer, nn.ReLU())]
    return nn.Sequential(*parts, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(32, 10))


kinds, rivals = {"linear layer": linear_layer, "convolutions": convolutions}, {}
for name, make in kinds.items():
    rivals[name] = [trained(make(seed), seed, jittered)[0] for seed in range(5)]
everyone = {"vision transformer": models, **rivals}
print("right of the unseen, per cent, augmented, five seeds:")
for name, five in everyone.items():
    size = sum(p.numel() for p in five[0].parameters())
    print(f"{name:18s} {told(right(model) for model in five)}   parameters: {size:,}")
print(f"{'nearest neighbour':18s} {nearest(digits[unseen]):.1f}")

# %% [markdown]
r"""
More than 95 % of the unseen digits, on each seed, from layers that were made for text. Is that good? Lesson 16
asked for the plainest rival. A linear layer on the pixels, trained with the same recipe, reads far fewer, so the
layers of the Transformer do help. But three layers of convolutions, whose kernels overlap here, read more on every
seed, with less than a third of the parameters. And the **nearest neighbour**, the label of the learned digit whose
pixels differ least, reads more than any of the five Transformers, although nothing is trained. The digits are tiny
and centred, and the same 13 people wrote the learned and the unseen ones. So this experiment shows that the layers
*work* on images, not that one needs them for these.

Augmentation has helped on four of the five seeds, although the loss in training stays higher, because images that
change from batch to batch cannot be learned by heart. On the other one it cost about as much as it gained on these.
Do not read too much into the size of the gap: one per cent is five digits.

Which ones does the first model get wrong? Judge for yourself whether you would have read them correctly:
"""

# %%
with torch.no_grad():
    guesses = models[0](digits[unseen]).argmax(dim=-1)
wrong = (guesses != labels[unseen]).nonzero()[:6, 0]
names = [f"{labels[unseen][i]} as {guesses[i]}" for i in wrong]
image_row(digits[unseen][wrong], names, "Some of its mistakes: the digit, and what it read")

# %% [markdown]
r"""
### What are positions worth?

Back to the scrambled digits. Let $\pi$ be the order of the squares. A model has one row of positions per
patch. Put its rows into the same order $\pi$. Then every patch meets the position that it met before, only at
another place in the sequence, and attention does not care about places in the sequence (lesson 07). What do
you expect of that model on scrambled digits?
"""

# %%
scramble = torch.randperm(16, generator=torch.Generator().manual_seed(1))


def scrambled(images, orders=scramble):
    return unpatchify(patchify(images, 2)[:, orders], 2, 8, 8)


twin = fresh(0)
twin.load_state_dict(models[0].state_dict())
with torch.no_grad():
    rows = twin.position_embedding[0, 1:].clone()
    twin.position_embedding[0, 1:] = rows[scramble]
    same = torch.allclose(twin(scrambled(digits[unseen])), models[0](digits[unseen]), atol=1e-3)
print("the twin's logits for scrambled digits = the model's for whole ones:", same)
for name, model in (("the model", models[0]), ("the twin", twin)):
    whole, mixed = right(model), right(model, scrambled(digits[unseen]))
    print(f"{name}: whole {whole:.0f} %, scrambled {mixed:.0f} %")

# %% [markdown]
r"""
That keeps the promise made at the beginning. To a vision transformer the two rows of digits are *the same
problem*. For every model that reads the upper row there is one that reads the lower row, with the same
logits. The position rows of a fresh model are random, so neither row of digits has an advantage when training
begins. Which patches are neighbours is not built in anywhere. The model has to find out.

What if it cannot? Take the positions away altogether, and train again:
"""

# %%
def without_positions(seed):
    model = fresh(seed)
    model.position_embedding.requires_grad_(False).zero_()
    return model


def nearest_bag(images):
    """As `nearest`, but each patch is compared with the most similar one, wherever that is."""
    patches, found = patchify(digits[learned], 2), []
    for some in patchify(images, 2).split(50):
        far = torch.cdist(some.flatten(0, 1), patches.flatten(0, 1)).square()
        far = far.unflatten(1, (-1, 16)).unflatten(0, (-1, 16))  # image, patch, learned, patch
        found.append((far.amin(dim=3).sum(dim=1) + far.amin(dim=1).sum(dim=2)).argmin(dim=1))
    return 100 * (labels[learned][torch.cat(found)] == labels[unseen]).float().mean().item()


bags = [trained(without_positions(seed), seed, jittered)[0] for seed in range(5)]
print("right without positions, per cent:", told(right(model) for model in bags))
print(f"nearest neighbour without positions: {nearest_bag(digits[unseen]):.1f}")
with torch.no_grad():
    mixed = torch.stack([scrambled(one[None], torch.randperm(16))[0] for one in digits[unseen]])
    same = torch.allclose(bags[0](mixed), bags[0](digits[unseen]), atol=1e-3)
print("every digit scrambled in its own way: the same logits:", same)

# %% [markdown]
r"""
Without positions an image is a **bag of patches**. It says which strokes occur, and how often, but not where.
On all five seeds that is enough for far more than the one in ten of guessing, but for far less than the
model with positions gets. The bag holds more than these models have found in it: a nearest neighbour that compares
each patch with the most similar one of the other image, wherever that is, reads more than any of them.

Compare this with a convolution whose kernels overlap. It knows beforehand that neighbouring pixels belong
together, and that a stroke is the same stroke wherever it is. Move the image, and what it returns moves, too.
That is called **translation equivariance**; such built-in knowledge is an **inductive bias**. A vision
transformer can only learn it:
"""

# %%
torch.manual_seed(0)
edges = nn.Conv2d(1, 8, 3, padding=1)
some = digits[unseen]
moved = some.roll(2, dims=3)  # two pixels to the right: one patch
with torch.no_grad():
    inner = slice(3, 7)  # away from the edges of the image
    results = edges(moved)[..., inner], edges(some).roll(2, dims=3)[..., inner]
    same = torch.allclose(*results, atol=1e-5)
print("convolution: moved image, moved result:", same)
alone = some.clone()
alone[..., 6:] = 0  # nothing leaves the image at the right when it moves
moves = {"before": alone, "after": alone.roll(2, dims=3)}
for name, five in everyone.items():
    for when, images in moves.items():
        print(f"{name:18s} {when:6s} {told(right(model, images) for model in five)}")
for when, images in moves.items():
    print(f"{'nearest neighbour':18s} {when:6s} {nearest(images):.1f}")
names = ["before"] * 3 + ["after"] * 3
shown = [*alone[:3], *alone[:3].roll(2, dims=3)]
image_row(shown, names, "Two pixels to the right: exactly one patch", patch=2)

# %% [markdown]
r"""
Two pixels to the right, and a person hardly notices. The vision transformers have only ever seen digits moved by
at most half a pixel, so the same strokes now meet other positions, about which other things were learned. On each seed
fewer than one digit in five is still read. The linear layer and the nearest neighbour, which go pixel by pixel,
fall as low. The fall is the price of tying what was learned to places, not a fault of attention.

The convolutions learned from the same images and still read more than four in five, on each seed. Their kernels are
the same everywhere, and the largest output of a kernel does not tell where it was. (They lose between
three and ten points at the edge of the image, where a kernel meets padding instead of paper.)

## 5. What has it looked at?

**The question.** The class token attends to patches, and you could draw its weights. But after one layer
"patch 5" is no longer only patch 5, because it holds what it has gathered from others. Which *pixels* does
the answer come from?

Follow the paths back. In each layer a token comes half from itself, along the residual connection, and half
from the tokens that its heads attend to. That is an assumption (the halves have not been measured), but a
simple one. Shares along one path are multiplied, and paths that end at the same token are added. For two
layers, that is a product of matrices.

![Two tokens in three columns: input, after layer 1, after layer 2. In each layer token 0 comes with a share of
0.5 from itself and 0.5 from token 1, and token 1 only from itself. After two layers token 0 is 0.25 of 0 and
0.75 of 1](../images/rollout_paths.svg)

By hand, for the picture: token 0 attends only to token 1, and token 1 to itself. Half of that plus half of the
identity gives the rows (0.5, 0.5) and (0, 1). Two such layers: (0.25, 0.75) and (0, 1).
"""

# %%
step = 0.5 * torch.tensor([[0.0, 1], [0, 1]]) + 0.5 * torch.eye(2)
print("one layer:", step.tolist(), "two layers:", (step @ step).tolist())
tokens = ["token 0", "token 1"]
figures.table(step @ step, tokens, ["from 0", "from 1"], title="Two layers, rolled out")

# %% [markdown]
r"""
**The formula** (Abnar and Zuidema 2020). With the weights $A^{(l)}_h$ of head $h$ in layer $l$:

$$M^{(l)} = \tfrac12 \operatorname{mean}_h A^{(l)}_h + \tfrac12 I, \qquad R = M^{(L)} \cdots M^{(2)} M^{(1)}$$

- $A^{(l)}_h$, $M^{(l)}$, $R$: shape $(N, N)$, one row per token after the layer, one column per token before it
- row 0 of $R$: how much of the class token comes from each token of the input

The rows of every $A$ sum to one, so the rows of $R$ do as well. Nothing has to be rescaled.

### Exercise: `attention_rollout`
"""

# %% exercise: images.attention_rollout
def attention_rollout(weights):
    """Multiply all layers' (0.5 mean over heads + 0.5 identity), the last on the left.

    Rows are not normalised again.

    Shapes:
        weights: list of (B, H, N, N), the first layer first
        returns: (B, N, N)

    >>> layer = torch.tensor([[[[0.0, 1.0], [0.0, 1.0]]]])
    >>> attention_rollout([layer, layer])[0].tolist()
    [[0.25, 0.75], [0.0, 1.0]]

    Abnar and Zuidema 2020, section 3.
    """
    ### BEGIN SOLUTION
    same = torch.eye(weights[0].shape[-1]).to(weights[0])
    rolled = same
    for layer in weights:
        rolled = (0.5 * layer.mean(dim=1) + 0.5 * same) @ rolled
    return rolled
    ### END SOLUTION


# %% [markdown]
r"""
**What goes wrong.**

- *The first layer on the left.* The rows of $R$ must belong to tokens *after the last* layer, its columns to
  tokens of the input. In the example by hand both orders give the same, since both layers are the same.
- *No identity.* Then the residual connection is left out, and a token keeps of itself only what it attends to.
- *Rescaled by the largest entry.* Fine for a picture, but then the shares no longer sum to one.

**See it run.** One unseen image of each digit, in the first model. Below each is the row of the class token
without its own column. How much of the answer comes from each patch?
"""

# %%
def seen_by_class(model, images, layers=2):
    """The shares of the patches in the class token after so many layers, (B, N)."""
    return attention_rollout(attention_weights(model, images)[:layers])[:, 0, 1:]


rolled = attention_rollout(attention_weights(models[0], digits[unseen]))
print("rows sum to one:", torch.allclose(rolled.sum(-1), torch.ones(500, 17), atol=1e-5))
examples = torch.stack([digits[unseen][labels[unseen] == digit][0] for digit in range(10)])
shares = seen_by_class(models[0], examples)
shown = {"patch": 2, "note": "below: the share of each patch in the class token, darker for more"}
title = "What the class token comes from"
image_row(examples[:5], list("01234"), title, shares=shares[:5], **shown)

# %%
image_row(examples[5:], list("56789"), title, shares=shares[5:], **shown)

# %% [markdown]
r"""
The strokes are drawn over the shares in grey. In most pictures the patch with the largest share lies on a stroke. It
looks as if the model knew where to look, but a few handsome pictures prove nothing. Over all unseen digits, in all
five models, how much of the share of the patches falls on patches with ink (more than a quarter black on average),
and what share of all patches are those?
"""

# %%
ink = patchify(digits[unseen], 2).mean(dim=-1)
has_ink = ink > 0.25
print(f"patches with ink: {100 * has_ink.float().mean():.0f} % of all")
for seed, model in enumerate(models):
    shares = seen_by_class(model, digits[unseen])
    on_ink = (shares * has_ink).sum() / shares.sum()
    print(f"seed {seed}: {100 * on_ink:.0f} % of the share of the patches falls on them")

# %% [markdown]
r"""
In four of the five models the ink gets more than its share. In the second it hardly does. That model reads as well
as the others, yet its class token takes about as much from a patch with little or no ink as from a written one. Blank
paper says something, too, namely where there is no stroke.

### Does the map tell the truth?

A map is a claim: *the answer comes from here*. Test it. Erase the four patches with the largest share (make
them white), and see how many digits are still read. For comparison, erase four with the smallest share, four
at random, and four with the most ink, which you can find without any model:
"""

# %%
def erased(images, chosen):
    """The images with these patches white; chosen: (B, k) numbers of patches."""
    cut = patchify(images, 2)
    return unpatchify(cut.scatter(1, chosen[..., None].expand(-1, -1, 4), 0.0), 2, 8, 8)


ways = ["nothing", "least", "random", "most", "ink"]
left = []
for model in models:
    shares = seen_by_class(model, digits[unseen])
    random = torch.rand(shares.shape, generator=torch.Generator().manual_seed(0))
    ranked = [-shares, random, shares, ink]
    images = [digits[unseen], *(erased(digits[unseen], rank.topk(4).indices) for rank in ranked)]
    left.append([round(right(model, given)) for given in images])
    print("per cent right, with these erased:", dict(zip(ways, left[-1])))
title = "Four of sixteen patches erased: per cent still right"
figures.table(left, [f"model {seed}" for seed in range(5)], ways, title=title)

# %% [markdown]
r"""
Read each row from left to right. If the map tells the truth, erasing the patches with the largest share
(*most*) hurts more than erasing at random, which in turn hurts more than erasing those with the smallest
(*least*). That is so in all five rows, even for the second model. The maps are not empty.

Now compare the last two columns. In the second and the third model, erasing the most *ink* hurts clearly more than
erasing what the map points at, in the last one clearly less, and in the other two about as much. So the map is
the better guide in one model, and the ink in two. If you want
to know which patches of a digit matter, you may as well look at the digit itself. A map that looks right is
not evidence. A test against a plain method is.

## Explore

Which patches does the class token of the first model come from, after one layer and after two? Guess first
whether the map after one layer is sharper or more blurred.
"""

# %% explore
def look(digit, layers, model):
    share = seen_by_class(models[model], examples[digit : digit + 1], layers)
    title = f"The digit {digit}, model {model}, layers: {layers}"
    with torch.no_grad():
        sure = models[model](examples[digit : digit + 1]).softmax(-1)[0]
    note = f"the model says {sure.argmax()}, with {100 * sure.max():.0f} %"
    one = examples[digit : digit + 1]
    return image_row(one, ["share"], title, patch=2, shares=share, note=note)


explore(look, digit=(0, 9, 1, 8), layers=[2, 1], model=[0, 1, 2])

# %% [markdown]
r"""
## Explain it

In your own words.
"""

# %% [markdown] written: images.what_it_does_not_know (3 points, 8 minutes)
r"""
### What does a vision transformer not know?

1. Name something that a convolutional network knows about images before it has seen any, and a vision
   transformer does not.
2. What does that mean for the amount of data it needs?
3. A rollout shows that the class token comes mostly from one patch. Does the answer depend on that patch?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** A convolution knows that neighbouring pixels belong together, and that a thing looks the
same wherever it is. In a vision transformer only the pixels of a patch are known to belong together. It has
to learn which patches are neighbours, and that the same stroke means the same thing in another place.

With little data it may not learn that well enough, and a convolutional network does better, as in section 4. With
a great deal of data the lack does no harm any more; vision transformers were then even ahead (see "In practice").

Not necessarily. Weights say where information is taken from, not what is done with it. The values that are
taken may be of no use to the head, and what the feed-forward networks do is not in the rollout at all. You
would have to change the patch and see whether the answer changes.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: locality, or translation equivariance (the same stroke means the same at every place).

**1 point** for: it needs more data or pre-training; with enough of it the lack does no harm. Half for one of
the two.

**1 point** for: attention is not cause, with a reason or a test.

**Sample answers.**

*3 points.* "Locality and translation equivariance. So ViTs need large-scale pretraining, then they match or
beat CNNs. Rollout ignores values and MLPs; ablate the patch to check."

*One and a half points.* "CNNs treat every position alike. ViTs need more data. Yes, since attention shows
what is important." (One. Half. Nothing.)

*0 points.* "It does not know colours. It needs less data, because it has attention."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded, and harder than they look.

**Scrambled for good.** We argued that scrambled digits are as easy to *learn* as whole ones. Train three
models on `scrambled(digits)` with the recipe of section 4 and compare. What would you have to see to give the
claim up?

<details><summary>What we saw</summary>

Augmentation comes first, scrambling second: `lambda images, g: scrambled(jittered(images, g))`. Compared
with those that learned from whole digits, our three models of scrambled ones read two more, two fewer and two more
of the 500 unseen. To give the claim up, you would have to see the opposite, with scrambled digits
read worse on every seed, and by more than models of the same kind differ.

</details>

**No class token.** Read the mean of all patches instead, so that `forward` changes in one line. Is the model
worse? What takes the place of row 0 of the rollout?

<details><summary>What to expect</summary>

Not worse, as a rule. Dosovitskiy et al. (appendix D.3) found that both work equally well, if each gets a
learning rate that suits it. Every patch is read, so the mean of all rows of the rollout takes the place of
row 0.

</details>

**Another size.** A model was trained on images of 8 x 8 pixels. What must change for images of 16 x 16, and
what would be a good start for it? Write `stretched(position_embedding, n)`: the table (1, N + 1, d) for n x n
patches.
"""

# %%
def try_stretched(stretched):
    """Raises AssertionError with a sentence if `stretched` is not right."""
    ramp = torch.arange(4.0).expand(4, 4)  # grows from left to right
    table = torch.cat([torch.full((1,), 9.0), ramp.flatten()])[None, :, None]
    same, large = stretched(table, 4), stretched(table, 8)
    assert large.shape == (1, 65, 1), f"expected (1, 65, 1), got {tuple(large.shape)}"
    assert torch.allclose(same, table, atol=1e-4), "for 4 x 4 patches nothing should change"
    assert large[0, 0, 0] == 9, "the class token has no place in the image: keep its row as it is"
    grid = large[0, 1:, 0].reshape(8, 8)
    assert (grid.diff(dim=1) >= 0).all(), "from left to right the rows should grow as before"
    assert grid.diff(dim=0).abs().max() < 1e-4, "from top to bottom nothing should change"
    return "right: a table for four times as many patches"


# def stretched(position_embedding, n): ...
# try_stretched(stretched)

# %% [markdown]
r"""
<details><summary>One answer</summary>

With the same patch size, everything fits except the table of positions, because 64 patches need 65 rows. A
new patch lies between old ones, so interpolate in two dimensions, and leave the class token out of it:

```python
def stretched(position_embedding, n):
    first, rows = position_embedding[:, :1], position_embedding[:, 1:]
    side = round(rows.shape[1] ** 0.5)
    grid = rows.mT.unflatten(2, (side, side))
    grid = F.interpolate(grid, size=(n, n), mode="bilinear")
    return torch.cat([first, grid.flatten(2).mT], dim=1)
```

Dosovitskiy et al. do this when they fine-tune on larger images (section 3.2).

</details>

## In practice

- **The sizes.** ViT-B/16, "base with patches of 16", has the layers of BERT-base: 12 of them, of width 768. It has
  about 86 million parameters, as the cell below counts. An image of 224 x 224 is a text of 197 tokens.
"""

# %%
width, wide, layers = 768, 3072, 12
layer = 4 * (width + 1) * width + 2 * width * wide + wide + width + 4 * width
around = 3 * 16 * 16 * width + width  # patch_proj
around += width + 197 * width + 2 * width  # class token, positions, the last norm
print(f"tokens: {(224 // 16) ** 2 + 1}; parameters: {(layers * layer + around) / 1e6:.0f} million")

# %% [markdown]
r"""
- **Beyond class labels.** *CLIP* trains an image network, in its best models a vision transformer, and a text
  Transformer so that a picture and its caption get similar vectors (Radford et al. 2021). *MAE* hides three quarters
  of the patches and lets the model paint them. Your `patchify` makes its inputs, and your `unpatchify` shows what it
  painted (He et al. 2022).
- **Data instead of knowledge.** Trained only on the 1.3 million images of ImageNet, the vision transformers
  of Dosovitskiy et al. fell a few points short of convolutional networks of the same size; after 300 million they
  were ahead. Touvron et al. closed the gap with only ImageNet, using strong augmentation and a convolutional
  network as teacher.
- **Eyes for language models.** LLaVA (Liu et al. 2023) gives a language model the patches of a vision
  transformer as tokens, through one linear layer, before or after the question. To the language model an image is
  a part of the text.
- **Maps with care.** Many large vision transformers use some patches of plain background as a notepad, and attend to
  them strongly. A few extra tokens, "registers", made that stop (Darcet et al. 2024).
"""

# %%
print(f"from 1.3 million to 300 million images: {300 / 1.3:.0f} times as many")
print("three quarters of 196 patches:", 196 * 3 // 4)

# %% [markdown]
r"""
## Read more

- Dosovitskiy et al.: *An Image is Worth 16x16 Words*, 2021,
  [arXiv:2010.11929](https://arxiv.org/abs/2010.11929). The vision transformer. Figure 7 shows that learned
  positions find the rows and columns of the image by themselves.
- Naseer et al.: *Intriguing Properties of Vision Transformers*, 2021,
  [arXiv:2105.10497](https://arxiv.org/abs/2105.10497). Patches erased and shuffled, as here, in models trained
  on ImageNet.
- Abnar and Zuidema: *Quantifying Attention Flow in Transformers*, 2020,
  [arXiv:2005.00928](https://arxiv.org/abs/2005.00928). Rollout, and a second way to follow attention.
- Chefer, Gur and Wolf: *Transformer Interpretability Beyond Attention Visualization*, 2021,
  [arXiv:2012.09838](https://arxiv.org/abs/2012.09838). Maps that take gradients into account, tested by
  erasing.
- Jain and Wallace: *Attention is not Explanation*, 2019,
  [arXiv:1902.10186](https://arxiv.org/abs/1902.10186), and Wiegreffe and Pinter: *Attention is not not
  Explanation*, 2019, [arXiv:1908.04626](https://arxiv.org/abs/1908.04626). What weights do not tell you, and
  the reply; read both.
- He et al.: *Masked Autoencoders Are Scalable Vision Learners*, 2022,
  [arXiv:2111.06377](https://arxiv.org/abs/2111.06377). Learning from images that are mostly hidden.
- Touvron et al.: *Training data-efficient image transformers*, 2021,
  [arXiv:2012.12877](https://arxiv.org/abs/2012.12877). How to get by with fewer images.
- Radford et al.: *Learning Transferable Visual Models From Natural Language Supervision*, 2021,
  [arXiv:2103.00020](https://arxiv.org/abs/2103.00020). CLIP: pictures and captions, compared.
- Darcet et al.: *Vision Transformers Need Registers*, 2024,
  [arXiv:2309.16588](https://arxiv.org/abs/2309.16588). The notepads in the background, in clear pictures.
- Liu et al.: *Visual Instruction Tuning*, 2023, [arXiv:2304.08485](https://arxiv.org/abs/2304.08485). How
  LLaVA gives patches to a language model.
- The digits: Alpaydin and Kaynak, *Optical Recognition of Handwritten Digits*, 1998, [UCI
  repository](https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits); scikit-learn
  ships their test set, written by 13 people.

**You have built it.** The same layers read sentences and pictures. What they do not know beforehand they
can learn, given enough data, and you test what a map says about them before you believe it.
"""

# %%
progress()
