"""Language models and encoders of `transformers` with random weights, for ExecuTorch and Inductor.

Hidden sizes and numbers of heads are those of published models. Vocabularies have 8192 tokens, and most models
have four layers, so that the weights fit into memory. Nothing is downloaded.

A decoder runs as a prompt (many tokens) or as a decode step (one token). Its keys and values are in a cache of
fixed length: mutable buffers that live for the whole run. With an external cache, the keys and values are inputs
and outputs instead, and those of the new tokens are appended. Only the logits of the last token are computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

VOCABULARY = 8192
PROMPT, DECODE = "prompt", "decode"

# Model type, hidden size, width of the feed-forward layers, heads, heads of keys and values, and further options.
GROUPED: dict[str, tuple[str, int, int, int, int, dict[str, Any]]] = {
    "smollm2_135m": ("llama", 576, 1536, 9, 3, {"num_hidden_layers": 8}),
    "llama3_1b": ("llama", 2048, 8192, 32, 8, {}),
    "qwen2_500m": ("qwen2", 896, 4864, 14, 2, {}),
    "qwen3_600m": ("qwen3", 1024, 3072, 16, 8, {"head_dim": 128}),
    "mistral_7b": ("mistral", 4096, 14336, 32, 8, {"num_hidden_layers": 2}),
    "gemma_2b": ("gemma", 2048, 16384, 8, 1, {"head_dim": 256}),
    "phi1_1b": ("phi", 2048, 8192, 32, 32, {}),
    "phi3_mini": ("phi3", 3072, 8192, 32, 32, {"num_hidden_layers": 2, "pad_token_id": 0}),
    "olmo2_1b": ("olmo2", 2048, 8192, 16, 16, {}),
    "pythia_410m": ("gpt_neox", 1024, 4096, 16, 16, {}),
}
OTHERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("gpt2", {"n_layer": 4}),
    "opt_125m": ("opt", {"num_hidden_layers": 4}),
    "bloom_560m": ("bloom", {"hidden_size": 1024, "n_head": 16, "n_layer": 4}),
}
DECODERS = [*OTHERS, *GROUPED]

WHISPER = {
    "d_model": 384,
    "encoder_attention_heads": 6,
    "encoder_ffn_dim": 1536,
    "encoder_layers": 4,
    "pad_token_id": 0,
}
# Model type, options, and the shape of the input: tokens, or a spectrogram.
ENCODERS: dict[str, tuple[str, dict[str, Any], tuple[int, ...]]] = {
    "bert_base_128": ("bert", {"num_hidden_layers": 4}, (1, 128)),
    "bert_base_384": ("bert", {"num_hidden_layers": 4}, (1, 384)),
    "distilbert_128": ("distilbert", {"n_layers": 4}, (1, 128)),
    "albert_base_256": ("albert", {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}, (1, 256)),
    "t5_small_128": ("t5", {"num_layers": 4}, (1, 128)),
    "whisper_tiny": ("whisper", WHISPER, (1, 80, 3000)),
}


class Case(NamedTuple):
    """A decoder with the kind of its run, the number of tokens, and the length of its cache."""

    model: str
    kind: str
    tokens: int
    cache: int
    external: bool = False

    @property
    def name(self) -> str:
        tokens = self.tokens if self.kind == PROMPT else ""
        return f"{self.model}-{self.kind}{tokens}-{'external' if self.external else 'cache'}{self.cache}"


BUFFERED = [(PROMPT, 128, 512), (DECODE, 1, 512)]
MORE_LENGTHS = [(PROMPT, 32, 128), (PROMPT, 512, 1024), (DECODE, 1, 128), (DECODE, 1, 1024)]
EXTERNAL = [(PROMPT, 128, 0), (DECODE, 1, 511)]
# The positions of OPT depend on the length of the cache in a way that export does not support for buffers.
CASES = [Case(model, *rest) for model in DECODERS if model != "opt_125m" for rest in BUFFERED]
CASES += [Case(model, *rest) for model in ("gpt2", "llama3_1b", "qwen2_500m") for rest in MORE_LENGTHS]
CASES += [Case(model, *rest, external=True) for model in ("opt_125m", "gpt2", "llama3_1b") for rest in EXTERNAL]


def options_of(model: str) -> tuple[str, dict[str, Any]]:
    """Returns the type of a decoder and the options of its configuration."""
    if model in OTHERS:
        return OTHERS[model]
    kind, hidden, wide, heads, pairs, more = GROUPED[model]
    sizes = {"hidden_size": hidden, "intermediate_size": wide, "num_hidden_layers": 4}
    return kind, {**sizes, "num_attention_heads": heads, "num_key_value_heads": pairs, **more}


def configuration(kind: str, options: dict[str, Any]) -> Any:
    from transformers import AutoConfig

    tokens = {"bos_token_id": 1, "eos_token_id": 2}
    return AutoConfig.for_model(kind, **{"vocab_size": VOCABULARY, **tokens, **options})


def buffered(model: Any, length: int) -> Any:
    """Returns a decoder whose cache is in mutable buffers."""
    from transformers.integrations.executorch import TorchExportableModuleWithStaticCache

    class Buffered(TorchExportableModuleWithStaticCache):  # type: ignore[misc]
        def forward(self, input_ids: Any, cache_position: Any) -> Any:
            for layer in self.static_cache.layers:
                layer.cumulative_length.copy_(cache_position[0])
            places = cache_position.unsqueeze(0)
            options = {} if self.model.config.model_type == "bloom" else {"position_ids": places}
            found = self.model(input_ids, cache=self.static_cache, use_cache=True, logits_to_keep=1, **options)
            return found.logits

    model.generation_config.cache_implementation = "static"
    return Buffered(model, 1, length)


def external(model: Any) -> Any:
    """Returns a decoder whose cache consists of inputs and outputs."""
    import torch
    from transformers import DynamicCache

    class External(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, *past: Any) -> Any:
            cache = DynamicCache(list(zip(past[::2], past[1::2], strict=True)) or None)
            found = self.model(input_ids, cache=cache, use_cache=True, logits_to_keep=1)
            return [found.logits, *(part for layer in cache.layers for part in (layer.keys, layer.values))]

    return External()


def decoder(case: Case) -> tuple[Any, tuple[Any, ...]]:
    """Returns a decoder and its inputs."""
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.configuration_utils import get_head_shapes

    config = configuration(*options_of(case.model))
    model = AutoModelForCausalLM.from_config(config).eval().requires_grad_(False)
    tokens = torch.ones(1, case.tokens, dtype=torch.long)
    if case.external:
        heads, width = get_head_shapes(config)
        past = torch.zeros(2 * config.num_hidden_layers, 1, heads, case.cache, width)
        return external(model), (tokens, *(past if case.cache else ()))
    first = 0 if case.kind == PROMPT else case.cache // 2
    return buffered(model, case.cache), (tokens, torch.arange(first, first + case.tokens))


def scorer(model: str, tokens: int) -> tuple[Any, Any]:
    """Returns a decoder that computes the logits of all tokens, and its input."""
    import torch
    from transformers import AutoModelForCausalLM

    class Scorer(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModelForCausalLM.from_config(configuration(*options_of(model))).eval()

        def forward(self, input_ids: Any) -> Any:
            # With a cache, the model does not search for several sequences, which depends on values.
            return self.model(input_ids, use_cache=True).logits

    return Scorer(), torch.ones(1, tokens, dtype=torch.long)


def encoder(name: str) -> tuple[Any, tuple[Any, ...]]:
    """Returns an encoder and its input."""
    import torch
    from transformers import AutoModel, AutoModelForTextEncoding, WhisperModel

    kind, options, shape = ENCODERS[name]
    config = configuration(kind, options)
    if kind == "whisper":
        model = WhisperModel(config).get_encoder()
    else:
        model = (AutoModelForTextEncoding if kind == "t5" else AutoModel).from_config(config)

    class Encoder(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model.eval().requires_grad_(False)

        def forward(self, value: Any) -> Any:
            return self.model(value).last_hidden_state

    value = torch.zeros(shape) if kind == "whisper" else torch.ones(shape, dtype=torch.long)
    return Encoder(), (value,)
