"""Mistakes in the dtype, the axes or the length of a mask, written as edits of a worked answer that ends with
`return mask`.
"""

from autograder.schema import edit

RETURN = "return mask"

FORMS = (
    edit("MSK-39 numbers instead of Booleans", {RETURN: "return mask.float()"},
         "Your mask has the right pattern, but as numbers, not as True and False.",
         "What dtype does the docstring ask for?"),
    *(edit("MSK-39", {RETURN: f"return mask.{kind}()"}) for kind in ("long", "int", "byte")),
    edit("MSK-41 a mask to add instead of a Boolean mask",
         {RETURN: "return torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)"},
         "Your mask holds 0 and minus infinity.",
         "Does the exercise ask for a mask to add to the scores, or for a Boolean one?"),
    edit("LOOP-33", {RETURN: "return mask.tolist()"}),
    edit("MSK-47 axes in another order, or too many", {RETURN: "return mask[None]"},
         "Your mask has the right pattern, but its axes are not the ones that the docstring asks for.",
         "Which axes does the docstring list, and in which order?"),
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
