"""Mistakes in the form of a mask, as edits of a worked answer that ends with `return mask`."""

from autograder.schema import edit

RETURN = "return mask"

FORMS = (
    edit("MSK-39 numbers instead of Booleans", {RETURN: "return mask.float()"},
         "Your mask holds the right pattern in numbers, not as True and False.",
         "Which dtype does the exercise promise?"),
    *(edit("MSK-39", {RETURN: f"return mask.{kind}()"}) for kind in ("long", "int", "byte")),
    edit("MSK-41 a mask to add instead of a Boolean mask",
         {RETURN: "return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)"},
         "Your mask holds 0 and minus infinity.",
         "Is this mask for adding to scores, or does it say True where attention is allowed?"),
    edit("LOOP-33", {RETURN: "return mask.tolist()"}),
    edit("MSK-47 axes in another order, or too many", {RETURN: "return mask[None]"},
         "Your mask holds the right pattern, but not with the axes that were promised.",
         "Which axes did the signature promise, and in which order?"),
)

TOO_SHORT = tuple(
    edit(f"MSK-111{title}", {RETURN: f"return mask[..., :{limit}]"}, *words)
    for limit, title, words in (
        (128, " a mask of limited length", ("Your mask ends at a fixed length.",
                                            "How many tokens may a sentence have before your mask is too small?")),
        (64, "", ()),
        (256, "", ()),
    )
)
