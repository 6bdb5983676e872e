"""Answers to toys.CachedAttention."""

RIGHT = {
    "by hand": {
        "F.scaled_dot_product_attention(q, k, v, attn_mask=mask)": "torch.softmax((q @ k.mT / q.shape[-1] ** 0.5)"
        ".masked_fill(~mask, -torch.inf), -1) @ v"
    },
    "one after the other": {
        "        mask = ": "        outputs = [F.scaled_dot_product_attention(q[:, i : i + 1], "
        "*(t[:, : t.shape[1] - q.shape[1] + i + 1] for t in (k, v))) for i in range(q.shape[1])]\n        mask = ",
        "return output,": "return torch.cat(outputs, 1),",
    },
    "an empty cache": {"if cache is not None:": "cache = cache or (k[:, :0], v[:, :0])\n        if True:"},
    "stacked first": {
        "k = torch.cat([cache[0], k], dim=1)": "k, v = torch.cat([torch.stack(cache), torch.stack((k, v))], dim=2)",
        "            v = torch.cat([cache[1], v], dim=1)\n": "",
    },
}
WRONG = {
    "a list for a cache": {"(k, v)\n": "[k, v]\n"},
    "the cache given is changed": {"[cache[0], k], dim=1)": "[cache[0], k], dim=1); cache[0].zero_()"},
    "a memory of its own": {
        "if cache is not None:": "cache = self.__dict__.get('kept', cache)\n        if cache is not None:",
        "return output,": "self.__dict__['kept'] = (k, v)\n        return output,",
    },
    "no mask": {"attn_mask=mask": "attn_mask=None"},
}
