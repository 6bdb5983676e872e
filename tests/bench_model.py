"""Measures how many tokens per second the real model generates, with the worked answers of lesson 20 and with
a plain PyTorch implementation. Run by `make bench`; asserts nothing.

Both continue the same prompt, with caches. They take turns, so that a busy machine slows both; the medians
are printed.
"""

import statistics
import time

import torch
from judged import worked_answer
from plain_llama import Fast
from worked_llama import model_of

from autograder.notebook import real_model

TOKENS, TURNS = 32, 7


def main() -> None:
    if not real_model.is_there():
        print(real_model.MISSING)
        return
    generate = worked_answer("llama.generate_cached")
    file = real_model.open_file()
    models = {"the lesson's": model_of(file), "plain PyTorch": Fast(file.state_dict(), file.sizes)}
    prompt = torch.tensor([file.tokenizer.encode("Once upon a time there was a model that learned to read.")])
    taken: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(TURNS):
        for name, model in models.items():
            start = time.perf_counter()
            generate(model, prompt, TOKENS, lambda logits: logits.argmax(dim=-1))
            taken[name].append(time.perf_counter() - start)
    rates = {name: TOKENS / statistics.median(times) for name, times in taken.items()}
    for name, rate in rates.items():
        print(f"{name + ' model':22} {rate:6.1f} tokens per second")
    ours, plain = rates.values()
    print(f"the plain one is {plain / ours:.2f} times as fast")


if __name__ == "__main__":
    main()
