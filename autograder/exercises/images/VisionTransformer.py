"""The Vision Transformer: an image read as a sequence of patches (Dosovitskiy et al. 2021)."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.exercises._shared.gpt_layers import NEEDS, STACK, layer_weights, linear, needs_of
from autograder.schema import DTYPES, GRADIENTS, SIDE_EFFECTS, VALUES, Case, Exercise, edit, fitting, samples_apart


class VisionTransformer(nn.Module):
    def __init__(self, image_size, patch, channels, n_classes, d_model, n_heads, d_ff, n_layers):
        super().__init__()
        self.patch = patch
        n_patches = (image_size // patch) ** 2
        self.patch_proj = nn.Linear(channels * patch**2, d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.position_embedding = nn.Parameter(0.02 * torch.randn(1, n_patches + 1, d_model))
        self.layers = nn.ModuleList([
            nn.TransformerEncoderLayer(
                d_model, n_heads, d_ff, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(n_layers)
        ])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)

    def forward(self, images):
        pieces = images.unflatten(3, (-1, self.patch)).unflatten(2, (-1, self.patch))
        patches = pieces.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)
        x = self.patch_proj(patches)
        first = self.class_token.expand(len(x), -1, -1)
        x = torch.cat((first, x), dim=1) + self.position_embedding
        for layer in self.layers:
            x = layer(x)
        x = self.norm(x)
        return self.head(x[:, 0])


class Reference(VisionTransformer):
    def forward(self, images):
        # The projection is a convolution whose windows do not overlap.
        kernel = self.patch_proj.weight.unflatten(1, (-1, self.patch, self.patch))
        x = F.conv2d(images, kernel, self.patch_proj.bias, stride=self.patch).flatten(2).mT
        x = F.pad(x, (0, 0, 1, 0)) + self.position_embedding
        x = x + F.pad(self.class_token, (0, 0, 0, x.shape[1] - 1))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)).select(1, 0)


def cases(draw):
    batch, patch, channels, classes = draw.sizes(4, 2, 5)
    yield _case(draw, "all sizes different", batch, (3 * patch, patch, channels, classes, 12, 3, 8, 2), observe=True)
    yield _case(draw, "other weights in the same module", batch + 1,
                (3 * patch, patch, channels, classes, 12, 3, 8, 2), gradients=False)
    yield _case(draw, "one layer of one head", 2, (4, 2, 3, 4, 6, 1, 5, 1))
    yield _case(draw, "one channel", 2, (4, 2, 1, 3, 8, 2, 6, 2))
    yield _case(draw, "patches of one pixel", 2, (3, 1, 2, 3, 4, 2, 5, 1), gradients=False)
    yield _case(draw, "the image is one patch", 3, (3, 3, 2, 4, 6, 1, 5, 1))
    # Without gradients: a norm of one feature has none, but rounding errors, times 1 / sqrt(eps), look like one.
    yield _case(draw, "one of everything", 1, (1, 1, 1, 1, 1, 1, 1, 1), gradients=False)
    yield _case(draw, "four of everything", 4, (8, 4, 4, 4, 4, 4, 4, 4), gradients=False, float64=True)
    yield _case(draw, "many patches", 1, (32, 2, 1, 3, 4, 2, 3, 1), gradients=False, repeats=False)
    names = ("image_size", "patch", "channels", "n_classes", "d_model", "n_heads", "d_ff", "n_layers")
    named = dict(zip(names, (4, 2, 3, 5, 8, 2, 6, 2), strict=True))
    yield _case(draw, "constructor arguments by name", 2, (4, 2, 3, 5, 8, 2, 6, 2), init=named, gradients=False)
    first = _case(draw, "two images", 2, (4, 2, 2, 3, 8, 2, 6, 2), gradients=False)
    yield first
    same = {"init": first.init, "weights": first.weights, "gradients": False, "needs": first.needs}
    images = first.args[0]
    yield Case("another second image", (torch.cat((images[:1], draw.normal(1, 2, 4, 4))),), **same)
    yield Case("patches in another order", (torch.cat((images[:, :, 2:], images[:, :, :2]), dim=2),), **same)


def _case(draw, family, batch, sizes, **more):
    image_size, patch, channels, classes, width, heads, d_ff, layers = sizes
    n_patches = (image_size // patch) ** 2
    weights = linear(draw, "patch_proj", width, channels * patch**2) | {"class_token": draw.normal(1, 1, width)}
    weights |= {"position_embedding": draw.normal(1, n_patches + 1, width)}
    weights |= layer_weights(draw, layers, width, d_ff) | linear(draw, "head", classes, width)
    needs = needs_of(layers=layers, heads=heads, channels=channels, patches=n_patches)
    images = draw.normal(batch, channels, image_size, image_size)
    return Case(family, (images,), **{"init": sizes, "weights": weights, "needs": needs} | more)


PATCHES, TOKENS = "pieces.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)", "torch.cat((first, x), dim=1)"
JOINED, READ, CALL = "torch.cat((first, x), dim=1) + self.position_embedding", "x[:, 0]", "layer(x)"
FUTURE = "torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)"

EXERCISE = Exercise(
    number=4, minutes=20, difficulty=3,
    worked=VisionTransformer,
    reference=Reference,
    cases=cases,
    standard=("float64", "transposed", "by name"),
    aspects={VALUES: 5, GRADIENTS: 1, SIDE_EFFECTS: 1, DTYPES: 1},
    shapes={"images": "B C height width", "return": "B n_classes"},
    invariants=(samples_apart("two images", "another second image"),),
    mistakes=(
        *fitting(VisionTransformer, STACK, without=("GPT-25",)),
        edit("VIT-07 a class token without a place", {JOINED: "torch.cat((first, x + self.position_embedding[:, "
                                                      "1:]), dim=1)"},
             "Your class token gets no position embedding.",
             "How many position embeddings are there, and how many patches?"),
        edit("VIT-07", {JOINED: "torch.cat((first, x + self.position_embedding[:, :-1]), dim=1)"}),
        edit("VIT-15 the class token comes last", {TOKENS: "torch.cat((x, first), dim=1)", READ: "x[:, -1]"},
             "You put the class token after the patches.", "At which position should the class token be?"),
        edit("VIT-15", {TOKENS: "torch.cat((x, first), dim=1)"}),
        edit("VIT-31 the mean is read", {READ: "x.mean(dim=1)"},
             "Your head reads a mean over tokens.", "Which token should the head read?"),
        edit("VIT-31", {READ: "x[:, 1:].mean(dim=1)"}),
        edit("VIT-33 another token is read", {READ: "x[:, -1]"},
             "Your head reads the token of a patch.", "Which token should the head read?"),
        edit("VIT-33", {READ: "x[:, 1]"}),
        edit("VIT-35 no class token", {JOINED: "torch.cat((0 * first, x), dim=1) + self.position_embedding"},
             "The class token has no effect in your model.", "What should the token at position 0 be?"),
        edit("VIT-35", {JOINED: "x + self.position_embedding[:, 1:]"},
             "Your sequence contains only the patches.", "What should the token at position 0 be?"),
        edit("VIT-37 no positions", {" + self.position_embedding": ""},
             "The order of the patches changes nothing in your result.",
             "What tells the model where in the image a patch is?"),
        edit("VIT-37", {JOINED: "torch.cat((first + self.position_embedding[:, :1], x), dim=1)"}),
        edit("VIT-09 positions of another sample", {JOINED: "torch.cat((first, x), dim=1) + "
             "self.position_embedding[0][: len(x), None]"},
             "Your positions change from image to image.",
             "Along which axis do the positions run: images, tokens or features?"),
        edit("VIT-39 the positions are scaled up", {"x = self.patch_proj(patches)": "x = self.patch_proj(patches) * "
             "self.class_token.shape[-1] ** 0.5"},
             "You multiply the projected patches by the square root of their width.",
             "Does this exercise ask for such a factor?"),
        edit("VIT-39", {TOKENS: f"{TOKENS} * self.class_token.shape[-1] ** 0.5"},
             "You multiply the tokens by the square root of their width.",
             "Does this exercise ask for such a factor?"),
        edit("VIT-03", {PATCHES: "pieces.permute(0, 4, 2, 1, 3, 5).flatten(3).flatten(1, 2)"},
             "Your patches run down the columns of the image.",
             "Which patch should come second: the one to the right of the first, or the one below it?"),
        edit("VIT-23", {PATCHES: "pieces.permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)"},
             "Within a patch, your channels change fastest.",
             "Which comes first within a patch: all of one channel, or all of one pixel?"),
        edit("VIT-25", {PATCHES: "pieces.permute(0, 2, 4, 1, 5, 3).flatten(3).flatten(1, 2)"},
             "Rows and columns are swapped within your patches.",
             "What is the second number of a patch: the pixel to the right of the first, or the one below it?"),
        edit("VIT-01 memory read in order", {PATCHES: "images.reshape(len(images), -1, self.patch_proj.in_features)"},
             "Each of your rows holds pixels that lie one after the other in memory.",
             "If you change one patch of the image, how many of your rows change?"),
        edit("VIT-05", {"(-1, self.patch)": "(self.patch, -1)", PATCHES: "pieces.permute(0, 3, 5, 1, 2, "
                        "4).flatten(3).flatten(1, 2)"},
             "The pixels of your patches lie far apart.",
             "Are the pixels of a patch neighbours in the image?"),
        # If attention runs over the samples, the class token meets only its own copies, as under a causal mask.
        edit("VIT-57 the class token hears itself alone", {CALL: f"layer(x, src_mask={FUTURE})"},
             "Your class token does not see the patches.",
             "Which arguments of your layers decide which tokens attend to each other?"),
        edit("VIT-57", {"batch_first=True, ": ""}),
        edit("VIT-93 positions twice", {"+ self.position_embedding": "+ 2 * self.position_embedding"},
             "You add the positions twice.", "How many times should the position embeddings be added?"),
        edit("VIT-95 positions for every layer", {CALL: "layer(x + self.position_embedding)"},
             "You add the positions before every layer.", "How many times should the position embeddings be added?"),
        edit("VIT-95", {JOINED: TOKENS, CALL: "layer(x + self.position_embedding)"}),
        edit("VIT-97 the images are changed first", {"pieces = images.unflatten": "pieces = images.clamp(0, "
                                                     "1).unflatten"},
             "You clamp the pixels to the range from 0 to 1.",
             "Does the exercise limit the values of a pixel?"),
        edit("VIT-97", {"pieces = images.unflatten": "pieces = (images / 255).unflatten"},
             "You divide the pixels by a constant.", "Does the exercise scale the pixels?"),
        edit("VIT-59 probabilities", {"self.head(x[:, 0])": "torch.softmax(self.head(x[:, 0]), dim=-1)"},
             "You return probabilities.", "What does the cross-entropy loss do first with the logits?"),
        edit("VIT-55 a class for every token", {READ: "x"},
             "Your result has a row for every token.", "How many rows of logits should an image have?"),
    ),
    needs=NEEDS | {
        "patches": ("Your answer is wrong only when there are several patches.",
                    "In which order do the patches come, and which position embedding does the first one get?"),
        "channels": ("Your answer is wrong only when there are several channels.",
                     "Within a patch, which pixel comes after the last one of the first channel?"),
        "": ("Your answer is wrong even for an image of one pixel.",
             "Which two tokens are there, and which of them is read?"),
    },
    hints=(
        "After `patchify` an image is a sequence of N tokens. The class token comes before them; its "
        "output is the one that the head reads.",
        "class_token has the shape (1, 1, d_model). `expand` it to one copy per image and use torch.cat "
        "to put it before the projected patches. That makes N + 1 tokens for N + 1 position embeddings.",
        "In outline: cut the images into patches, project them to (B, N, d_model), prepend the class "
        "token, add the positions, go through the layers, and apply the norm and the head to token 0.",
    ),
)
