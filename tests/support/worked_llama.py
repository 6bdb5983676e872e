"""Builds the real model from the worked classes of lesson 20."""

from judged import worked_answer


def model_of(file):
    """Return the real model, built from the worked classes of lesson 20, with weights that the worked
    dequantise_q4 has unpacked.
    """
    s = file.sizes
    answers = {name: worked_answer(f"llama.{name}") for name in ("LlamaAttention", "LlamaLayer", "Llama")}
    heads = s.n_heads, s.n_kv_heads, s.base
    layers = [
        answers["LlamaLayer"](s.d_model, s.d_ff, answers["LlamaAttention"](s.d_model, *heads), s.eps)
        for _ in range(s.n_layers)
    ]
    model = answers["Llama"](s.vocab_size, s.d_model, layers, s.eps)
    model.load_state_dict(file.state_dict(worked_answer("llama.dequantise_q4")))
    return model.eval()
