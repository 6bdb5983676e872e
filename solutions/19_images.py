# %% [markdown]
r"""
# 19 Read an image: what are the words of a picture?

A Transformer reads a sequence of vectors. It does not ask where they come from. Cut an image into squares,
make a vector of each, and it reads pictures, with the layers that read texts. In this lesson you will
**build**

1. the cut of an image into patches,
2. the way back,
3. the proof that a convolution does the same as a layer on patches,
4. a vision transformer,
5. a map of what it has looked at.

**You need** lessons 04 (heads) and 16 (a classifier). You may use PyTorch's own layers, but neither
`F.unfold`, `F.fold` nor the pixel shuffles for the first two exercises.

**You spend** about 85 minutes.

| exercise | points | minutes |
|---|---|---|
| `patchify` | 8 | 12 |
| `unpatchify` | 6 | 8 |
| `conv_to_linear` | 6 | 8 |
| `VisionTransformer` | 8 | 20 |
| `attention_rollout` | 7 | 8 |
| a written question: what does a vision transformer not know? | 3 | 8 |

Write an answer, run the check below it, read what it says. When you are stuck,
`hint("images.patchify")` (and likewise for the others) gives one hint at a time.

Run this cell first. If it does not find `torch` or `autograder`, start the notebook with `make lab` in the
course's folder, or with a Python that the course is installed in. On Colab, before this cell,
upload the course's zip and run `%pip install --no-deps attention*.zip pygraphviz torchview`.
"""

# %%
import torch
import torch.nn.functional as F
from torch import nn

from autograder import check, compare, draw, explore, figures, hint, progress

# %% [markdown]
r"""
## 1. Where are the words of an image?

**The question.** An image of 224 x 224 pixels has 50176 of them. As many tokens would be far too many for
attention. What is a good token?

A small square, a *patch*: neighbouring pixels belong together, and there are few patches. All numbers of a
patch in a row are its vector.

By hand: an image of 4 x 4 pixels, numbered from 0 to 15, in patches of 2 x 2. The first patch holds 0, 1, 4
and 5, the second, to its right, 2, 3, 6 and 7.
"""

# %%
print("pixels:", 224 * 224, "patches of 16:", (224 // 16) ** 2)
image = torch.arange(16).reshape(4, 4)
for row in (0, 2):
    for column in (0, 2):
        print(image[row : row + 2, column : column + 2].flatten().tolist())
columns = [str(i) for i in range(4)]
figures.table(image, [f"row {i}" for i in range(4)], columns, title="sixteen pixels")

# %% [markdown]
r"""
**The formula.** Patch $n = i \cdot W/P + j$ stands in row $i$ and column $j$ of patches; its number
$(c P + a) P + b$ is

$$\text{image}_{c,\; iP + a,\; jP + b}$$

So patches come row by row, and within a patch first all of one channel.

### Exercise: `patchify`
"""

# %% exercise: images.patchify
def patchify(images, patch):
    """Images cut into patches, row by row; within a patch channel, row, column.

    Shapes:
        images: (B, C, H, W)
        returns: (B, N, C * patch * patch), N = H / patch * W / patch
    Raises ValueError where patch does not divide H and W.

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


# %% check: images.patchify
check(patchify)
### BEGIN HIDDEN TESTS
check(patchify, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *`view(B, N, -1)`.* Memory is read row by row over the whole image: such a "patch" is a stripe.
- *Pixels that fill no patch* are easily lost without a word.

**See it run.** A photograph of 224 x 224 in three colours:
"""

# %%
print(tuple(patchify(torch.zeros(1, 3, 224, 224), 16).shape))

# %% [markdown]
r"""
## 2. Can the image be had back?

**The question.** Is anything lost? And if a model makes patches, how does one see them as an image?

Nothing is lost, only the order of the numbers has changed. The way back is the same steps the other way
round.

By hand: the number 12 of the image above stood in row 3, column 0. It is number 2 of the third patch, which
is patch 2 if one counts from 0.
"""

# %%
print("12 in the image:", (image == 12).nonzero()[0].tolist())
patches = patchify(image[None, None], 2)[0]
print("12 in the patches:", (patches == 12).nonzero()[0].tolist())
figures.table(patches, [f"patch {i}" for i in range(4)], columns, title="four patches")

# %% [markdown]
r"""
**The formula.** `unpatchify(patchify(x, P), P, H, W)` is `x`.

### Exercise: `unpatchify`
"""

# %% exercise: images.unpatchify
def unpatchify(patches, patch, height, width):
    """The images that `patchify` has cut into these patches.

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


# %% check: images.unpatchify
check(unpatchify)
### BEGIN HIDDEN TESTS
check(unpatchify, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *The same `permute` again.* It is not its own inverse.
- *Height and width exchanged*, which no square image shows.

**See it run.** There and back, for an image that is not square:
"""

# %%
wide = torch.randn(2, 3, 4, 6, generator=torch.Generator().manual_seed(0))
print("the same image:", torch.equal(unpatchify(patchify(wide, 2), 2, 4, 6), wide))

# %% [markdown]
r"""
## 3. Is that a convolution?

**The question.** Published vision transformers have no `patchify`. They begin with a convolution whose
stride is as large as its kernel. Is that something else?

No. The kernel lies on one patch after the other, multiplies every pixel by a weight and adds up. That is one
output of a linear layer that reads the patch.

By hand: the kernel (1, 0, 0, -1) on the first patch, 0, 1, 4, 5: $0 - 5 = -5$.
"""

# %%
kernel = torch.tensor([[1.0, 0], [0, -1]])
by_layer = kernel.flatten() @ patches[0].float()
by_convolution = F.conv2d(image[None, None].float(), kernel[None, None], stride=2)[0, 0]
print("layer:", by_layer.item(), "convolution:", by_convolution.tolist())
figures.table(kernel, ["row 0", "row 1"], ["0", "1"], title="a kernel")

# %% [markdown]
r"""
**The formula.** With the kernel $K$ of shape $(d, C, P, P)$ and the bias $b$:

$$\operatorname{conv}(x)_{\text{patch}} = W\, \text{patch} + b, \qquad W_{o,\; (c P + a) P + b'} = K_{o, c, a, b'}$$

### Exercise: `conv_to_linear`
"""

# %% exercise: images.conv_to_linear
def conv_to_linear(conv):
    """A new nn.Linear that gives for a patch of `patchify` what conv gives there.

    The new layer can learn, and shares nothing with conv, an nn.Conv2d(C, d, kernel_size=patch,
    stride=patch) with a bias.

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


# %% check: images.conv_to_linear
check(conv_to_linear)
### BEGIN HIDDEN TESTS
check(conv_to_linear, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *A view.* `conv.weight.data.flatten(1)` is the same memory: train one, and the other moves.
- *Pixel by pixel.* The kernel has its channels first, as `patchify` has.

**See it run.** A convolution and its layer, on whole images:
"""

# %%
torch.manual_seed(0)
conv = nn.Conv2d(3, 8, 2, stride=2)
theirs, mine = conv(wide).flatten(2).mT, conv_to_linear(conv)(patchify(wide, 2))
print("the same numbers:", torch.allclose(mine, theirs, atol=1e-5))

# %% [markdown]
r"""
## 4. Who reads the patches?

**The question.** The patches go through the layers, each looks at all others. Which of them knows the
answer?

None more than another. So one more token is put in front, which is learned and the same for every image. It
has nothing of its own to say; it looks at the patches, and at the end it is read.

By hand: an image of 8 x 8 in patches of 4 makes 4 patches, so 5 tokens and 5 positions.
"""

# %%
n_patches = (8 // 4) ** 2
print("patches:", n_patches, "tokens:", n_patches + 1)
names = ["class", *(f"patch {i}" for i in range(n_patches))]
figures.table(torch.arange(5)[None], ["position"], names, title="five tokens")

# %% [markdown]
r"""
**The formula** (Dosovitskiy et al. 2021, equations 1 to 4). With the class token $z$ and the positions $p$:

$$x = [z;\; W\, \text{patch}_1 + b;\; \dots;\; W\, \text{patch}_N + b] + p, \qquad
\text{logits} = \operatorname{head}\bigl(\operatorname{norm}(\operatorname{layers}(x))_0\bigr)$$

Nothing is hidden from anybody.

### Exercise: `VisionTransformer`

The layers are given.
"""

# %% exercise: images.VisionTransformer
class VisionTransformer(nn.Module):
    """Logits of the classes of an image, read at the class token, which comes before the patches.

    Parts:
        patch_proj: nn.Linear(channels * patch * patch, d_model), for patches of `patchify`
        class_token: nn.Parameter (1, 1, d_model)
        position_embedding: nn.Parameter (1, N + 1, d_model), N = (image_size / patch)^2
        layers: nn.ModuleList of pre-norm layers; norm: nn.LayerNorm; head: nn.Linear to n_classes
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


# %% check: images.VisionTransformer
check(VisionTransformer)
### BEGIN HIDDEN TESTS
check(VisionTransformer, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
(The answer above cuts the patches itself, so that it can be judged by itself. Yours may call `patchify`.)

**What goes wrong.**

- *A class token without a position.* It is the first of N + 1 tokens, and has a row of its own.
- *The wrong order of a patch's numbers.* A model that is trained anew does not mind; weights from elsewhere
  do.

**See it run.** Noisy images of 8 x 8 in which one quarter is a little brighter. Which one?
"""

# %%
def bright_quarters(count):
    """Images with one bright quarter, and its number."""
    quarter, images = torch.randint(0, 4, (count,)), 0.5 * torch.randn(count, 1, 8, 8)
    rows, columns = torch.meshgrid(torch.arange(8) // 4, torch.arange(8) // 4, indexing="ij")
    return images + ((2 * rows + columns) == quarter[:, None, None])[:, None], quarter


torch.manual_seed(0)
vit = VisionTransformer(8, 4, 1, 4, 16, 2, 32, 2)
optimizer = torch.optim.Adam(vit.parameters(), lr=3e-3)
for _ in range(120):
    images, quarter = bright_quarters(64)
    loss = F.cross_entropy(vit(images), quarter)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
images, quarter = bright_quarters(500)
with torch.no_grad():
    share = (vit(images).argmax(-1) == quarter).float().mean()
print("more than nine tenths of new images right:", bool(share > 0.9))

# %% [markdown]
r"""
## 5. What has it looked at?

**The question.** The class token attends to patches. But after one layer a patch is no longer that patch: it
holds what it has gathered itself. From which pixels does the answer come?

Follow the ways. In each layer a token comes half from itself, by the residual, and half from where its heads
look, on average. Two layers one after the other are a product.

By hand, for two tokens: in layer 1 token 0 looks at token 1 alone, and token 1 at itself. Half of it and
half the identity gives the rows (0.5, 0.5) and (0, 1). Twice the same layer: (0.25, 0.75) and (0, 1).
"""

# %%
step = 0.5 * torch.tensor([[0.0, 1], [0, 1]]) + 0.5 * torch.eye(2)
print("one layer:", step.tolist(), "two:", (step @ step).tolist())
figures.table(step @ step, ["token 0", "token 1"], ["0", "1"], title="two layers, rolled out")

# %% [markdown]
r"""
**The formula** (Abnar and Zuidema 2020). With the weights $A^{(l)}_h$ of head $h$ in layer $l$:

$$M^{(l)} = \tfrac12 \operatorname{mean}_h A^{(l)}_h + \tfrac12 I, \qquad R = M^{(L)} \cdots M^{(2)} M^{(1)}$$

Rows of $A$ sum to one, so those of $R$ do; nothing is scaled afterwards.

### Exercise: `attention_rollout`
"""

# %% exercise: images.attention_rollout
def attention_rollout(weights):
    """The product over layers of 0.5 mean over heads + 0.5 identity, the last on the left.

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


# %% check: images.attention_rollout
check(attention_rollout)
### BEGIN HIDDEN TESTS
check(attention_rollout, hidden=True)
### END HIDDEN TESTS
# %% [markdown]
r"""
**What goes wrong.**

- *The first layer on the left.* The result's rows should belong to tokens of the last layer.
- *No identity.* Then a token seems to forget itself in every layer.

**See it run.** The model of section 4. How much of the class token comes from each patch, on average over
images whose bright quarter is the first, the second, ...? If it looks where the light is, the largest
numbers stand on the diagonal:
"""

# %%
def weights_of(model, images):
    """The attention weights of every layer."""
    x = model.patch_proj(patchify(images, model.patch))
    x = torch.cat((model.class_token.expand(len(x), -1, -1), x), dim=1) + model.position_embedding
    found = []
    for layer in model.layers:
        normed = layer.norm1(x)
        found.append(layer.self_attn(normed, normed, normed, average_attn_weights=False)[1])
        x = layer(x)
    return found


with torch.no_grad():
    rolled = attention_rollout(weights_of(vit, images))
    print("rows sum to one:", torch.allclose(rolled.sum(-1), torch.ones(500, 5), atol=1e-5))
    seen = torch.stack([rolled[quarter == q, 0, 1:].mean(0) for q in range(4)])
bright = seen.diagonal().mean()
others = (seen.sum() - 4 * bright) / 12
print("more from the bright patch than from another:", bool(bright > others))
figures.table(seen, [f"bright {q}" for q in range(4)], names[1:], title="seen by the class token")

# %% explore
def look(image, layers):
    with torch.no_grad():
        shown = attention_rollout(weights_of(vit, images[image : image + 1])[:layers])[0]
    title = f"image {image}, layers: {layers}, bright: {quarter[image]}"
    return figures.table(shown, names, [f"{name} " for name in names], title)


explore(look, image=(0, 9, 1, 0), layers=[2, 1])

# %% [markdown]
r"""
## Explain it
"""

# %% [markdown] written: images.what_it_does_not_know (3 points)
r"""
### What does a vision transformer not know?

1. Name something that a convolutional network knows of images before it has seen any, and a vision
   transformer does not.
2. What does that mean for how much data it needs?
3. A rollout shows that the class token comes mostly from one patch. Does the answer depend on that patch?

Four to eight sentences are enough.

### BEGIN SOLUTION
**A worked answer.** A convolution knows that neighbouring pixels belong together, and that a thing looks the
same wherever it is. In a vision transformer only the patches themselves have neighbouring pixels; which
patches are neighbours, and that places are alike, it has to learn from its positions and weights.

With little data that has to be learned again, and convolutional networks do better. With very much data the
freedom pays: what is learned can fit better than what was built in.

Not necessarily. Weights say from where numbers are taken, not what they do afterwards: what is taken may be of
no use to the head, and what the feed-forward networks do is not in the rollout. One would have to change the
patch and see whether the answer moves.
### END SOLUTION

### BEGIN MARK SCHEME
**1 point** for: locality or the same weights at every place (translation).

**1 point** for: more data, or pre-training, is needed; with enough of it the lack is no harm. Half for one.

**1 point** for: attention is not cause, with a reason or a test.

**Sample answers.**

*3 points.* "Locality and translation equivariance. So ViTs need large-scale pretraining, then they match or
beat CNNs. Rollout ignores values and MLPs; ablate the patch to check."

*One and a half points.* "CNNs share weights over positions. ViTs need more data. Yes, since attention shows
what is important." (One. Half. Nothing.)

*0 points.* "It does not know colours. It needs less data, because it has attention."
### END MARK SCHEME
"""

# %% [markdown]
r"""
## On your own

Not graded.

**No class token.** Read the mean of all patches instead. Is the model worse? What does a rollout show then?

**Another size.** A model was trained on images of 8 x 8. What has to be changed for images of 16 x 16, and
what would be a good start for it?

## In practice

- **Positions** of a model trained on small images are stretched to larger ones by interpolation.
- **A mean instead of a class token** is as good in many models, and simpler.
- **Masked autoencoders** hide most patches and learn to draw them: there `unpatchify` shows the result.

## Read more

- Dosovitskiy et al.: *An Image is Worth 16x16 Words*, 2021,
  [arXiv:2010.11929](https://arxiv.org/abs/2010.11929). The vision transformer.
- Abnar and Zuidema: *Quantifying Attention Flow in Transformers*, 2020,
  [arXiv:2005.00928](https://arxiv.org/abs/2005.00928). Rollout, and a second way to follow attention.
- He et al.: *Masked Autoencoders Are Scalable Vision Learners*, 2022,
  [arXiv:2111.06377](https://arxiv.org/abs/2111.06377). Learning from images of which most is hidden.
- Touvron et al.: *Training data-efficient image transformers*, 2021,
  [arXiv:2012.12877](https://arxiv.org/abs/2012.12877). How to do with fewer images.
- Jain and Wallace: *Attention is not Explanation*, 2019, [arXiv:1902.10186](https://arxiv.org/abs/1902.10186). What
  weights do not tell.

**Next:** nothing. You have built it all.
"""

# %%
progress()
