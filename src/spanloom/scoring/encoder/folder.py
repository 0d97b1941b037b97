"""Folders of encoders, as Hugging Face's libraries write them. Opening one runs none of its code and no pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanloom.errors import UsageError
from spanloom.extras import extra
from spanloom.scoring.encoder.subwords import SubwordTokenizer

__all__ = ["FAMILIES", "EncoderFolder", "check_config", "check_folder", "digest_of", "open_encoder"]

FAMILIES: Final = frozenset(
    (
        "albert", "bert", "camembert", "convbert", "deberta", "deberta-v2", "distilbert", "electra", "ernie",
        "megatron-bert", "modernbert", "mpnet", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl",
    )
)  # fmt: skip
"""Families of encoders, by ``model_type``: transformers builds them from their configuration and nothing else."""

_CONFIG: Final = "config.json"
_WEIGHTS: Final = ("model.safetensors", "model.safetensors.index.json")
LEAST_WINDOW: Final = 16  # sub-words that an encoder reads at once
_PICKLES: Final = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_ATTENTION: Final = ("eager", "sdpa")
_ATTENTION_OF: Final = ("attn_implementation", "_attn_implementation", "_attn_implementation_internal")
_SHIFTED: Final = 2  # positions that RoBERTa and its kin keep for padding
_MOST: Final = 1 << 20  # what tokenizers that know no length say is far above
_POOLER: Final = "pooler."  # a summary of the text, which tokens have no use for


class EncoderFolder(NamedTuple):
    """An opened encoder.

    Args:
        model: a ``transformers.PreTrainedModel`` in 32 bits, without a pooler.
        tokenizer: its sub-words.
        longest: sub-words that it can read at once, its special ones among them.
        digest: SHA-256 of its weights, for whoever wants to know which encoder a model was made of.
    """

    model: Any
    tokenizer: SubwordTokenizer
    longest: int
    digest: str


def check_folder(path: str | Path) -> dict[str, Any]:
    """Return the configuration of an encoder's folder, after a look at what lies there.

    Raises:
        UsageError: it is no such folder, its weights are a pickle, or it wants to run code of its own.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise UsageError(f"encoder {str(path)!r} is no folder; name one with {_CONFIG}, a tokenizer and {_WEIGHTS[0]}")
    try:
        config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"encoder {folder}: {_CONFIG} is missing; name the folder that the encoder lies in") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"encoder {folder}: {_CONFIG} cannot be read: {error}") from None
    if problem := check_config(config):
        raise UsageError(f"encoder {folder}: {_CONFIG} {problem}")
    if not (folder / _WEIGHTS[0]).is_file() and (folder / _WEIGHTS[1]).is_file():
        _check_index(folder)
    if not any((folder / name).is_file() for name in _WEIGHTS):
        pickles = sorted(file.name for pattern in _PICKLES for file in folder.glob(pattern))
        if pickles:
            raise UsageError(
                f"encoder {folder}: its weights are a pickle ({pickles[0]}), which can run code when it is opened; "
                "where you trust it, save it again once: AutoModel.from_pretrained(folder).save_pretrained(new_folder) "
                "of transformers writes model.safetensors"
            )
        raise UsageError(f"encoder {folder}: {_WEIGHTS[0]} is missing; copy the whole folder")
    checked: dict[str, Any] = config
    return checked


def _check_index(folder: Path) -> None:
    """Check that weights in several files are in files of safetensors, in the folder itself."""
    name = _WEIGHTS[1]
    try:
        files = set(json.loads((folder / name).read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise UsageError(f"encoder {folder}: {name} cannot be read; copy the whole folder") from None
    for file in sorted(map(str, files)):
        if file != Path(file).name or not file.endswith(".safetensors"):
            raise UsageError(
                f"encoder {folder}: {name} names {file!r}, expected files of the folder that end in .safetensors; "
                "others are not opened"
            )
        if not (folder / file).is_file():
            raise UsageError(f"encoder {folder}: {file} is missing; copy the whole folder")


def check_config(config: Any) -> str | None:
    """Return what is wrong with an encoder's configuration, or ``None``."""
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        return "names no model_type; name the folder of an encoder"
    if "auto_map" in config:
        return "asks for code of its own (auto_map), which is not run; take an encoder whose class transformers has"
    if any(config.get(name) not in (None, *_ATTENTION) for name in _ATTENTION_OF):
        return (
            f"asks for an attention of its own, expected one of {', '.join(_ATTENTION)}; others are code to be fetched"
        )
    if config.get("quantization_config"):
        return "is that of quantized weights, expected those of 32 or 16 bits"
    if config["model_type"] not in FAMILIES:
        return f"is that of a {config['model_type']!r}, expected one of {', '.join(sorted(FAMILIES))}"
    if config.get("is_encoder_decoder") or config.get("is_decoder"):
        return "is that of a model that writes text, expected an encoder alone"
    return None


def open_encoder(path: str | Path) -> EncoderFolder:
    """Open an encoder.

    Raises:
        UsageError: the folder holds no encoder, weights of another shape, or a tokenizer that does not fit.
    """
    config = check_folder(path)
    with extra("torch", "an encoder"):
        import torch
        import transformers
    folder = Path(path)
    try:
        with _quiet(transformers.utils.logging):
            model, loaded = transformers.AutoModel.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_safetensors=True, dtype=torch.float32,
                output_loading_info=True,
            )  # fmt: skip
            made = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, use_fast=True
            )
    except Exception as error:  # of many kinds; what they say is all there is to know
        raise UsageError(f"encoder {folder}: cannot be opened: {_first_line(error)}") from None
    missing = sorted(name for name in loaded["missing_keys"] if _POOLER not in name)
    if missing or loaded["mismatched_keys"]:
        wrong = [*missing, *(str(key[0]) for key in loaded["mismatched_keys"])]
        raise UsageError(
            f"encoder {folder}: the weights lack {len(wrong):,} arrays of a {config['model_type']}, or have them in "
            f"another shape, such as {wrong[0]}; is {_CONFIG} that of these weights?"
        )
    if not hasattr(made, "backend_tokenizer"):
        raise UsageError(f"encoder {folder}: there is no fast tokenizer for it; one with a tokenizer.json is needed")
    tokenizer = SubwordTokenizer(made.backend_tokenizer.to_str())
    rows = model.get_input_embeddings().num_embeddings
    if tokenizer.size > rows:
        raise UsageError(
            f"encoder {folder}: its tokenizer knows {tokenizer.size:,} sub-words, its weights {rows:,}; is the "
            "tokenizer that of these weights?"
        )
    if hasattr(model, "pooler"):
        model.pooler = None
    longest = longest_of(model.config, made.model_max_length if isinstance(made.model_max_length, int) else 0)
    if longest < LEAST_WINDOW:
        raise UsageError(f"encoder {folder}: it reads {longest} sub-words at once, expected {LEAST_WINDOW} or more")
    return EncoderFolder(model, tokenizer, longest, digest_of(folder))


def longest_of(config: Any, said: int = 0) -> int:
    """Return how many sub-words an encoder reads at once; those with relative positions only have no bound."""
    positions = int(getattr(config, "max_position_embeddings", 0) or 0)
    shifted = _SHIFTED if getattr(config, "pad_token_id", 0) == 1 else 0
    bounds = [positions - shifted] if positions > 0 else []
    bounds += [int(said)] if 0 < said < _MOST else []
    return min(bounds, default=_MOST)


def digest_of(folder: Path) -> str:
    """Return the SHA-256 of the weights' files in an encoder's folder."""
    total = hashlib.sha256()
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as stream:
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


@contextmanager
def _quiet(logging: Any) -> Iterator[None]:
    """Open something without the bars and hints of transformers, which are for programs of its own."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
