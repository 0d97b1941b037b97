"""Folders of encoders, as Hugging Face's libraries write them. Opening one runs none of its code and no pickle."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from spanloom.errors import ModelError, UsageError, clip, reason_of
from spanloom.extras import extra
from spanloom.modelfile import OtherModelError
from spanloom.scoring.encoder.settings import MOST_SUBWORDS
from spanloom.scoring.encoder.subwords import SubwordTokenizer

FAMILIES: Final = frozenset(
    (
        "albert", "bert", "camembert", "convbert", "deberta", "deberta-v2", "distilbert", "electra", "ernie",
        "megatron-bert", "modernbert", "mpnet", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl",
    )
)  # fmt: skip
"""Families of encoders, by ``model_type``: transformers builds them from their configuration and nothing else."""

UNWANTED: Final = (
    *("auto_map", "quantization_config", "transformers_version", "dtype", "torch_dtype", "architectures"),
    *("num_labels", "id2label", "label2id", "problem_type"),  # of heads that are not here
    *("return_dict", "chunk_size_feed_forward", "output_attentions", "output_hidden_states"),  # of use by others
    *("transformers_weights", "extra_files", "extra_config_files"),  # other files than those that were looked at
)
"""Entries of a configuration that are not used to build the encoder."""

_CONFIG: Final = "config.json"
_TOKENIZER: Final = "tokenizer.json"
_OF_PEFT: Final = "adapter_config.json"
_WEIGHTS: Final = ("model.safetensors", "model.safetensors.index.json")
LEAST_WINDOW: Final = 16  # sub-words that an encoder reads at once
_PICKLES: Final = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_ATTENTION: Final = ("eager", "sdpa")
_ATTENTION_OF: Final = ("attn_implementation", "_attn_implementation", "_attn_implementation_internal")
_MISMATCHED: Final = "ignore_mismatched_sizes"  # how transformers reports shapes that differ
_MOST_LAYERS: Final = 1 << 10
# their positions begin behind the number of padding; of MPNet that is always 1
_SHIFTED: Final = frozenset(("camembert", "mpnet", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl"))
_LAYER: Final = re.compile(r"(?:^|\.)layers?\.(\d+)\.")  # in the name of an array
_POOLER: Final = "pooler."  # a summary of the text, which tokens have no use for


class EncoderFolder(NamedTuple):
    """An opened encoder.

    Args:
        model: a ``transformers.PreTrainedModel`` in 32 bits, without a pooler.
        tokenizer: its sub-words.
        longest: sub-words that it can read at once, its special ones among them.
        digest: SHA-256 of its weights, to identify the encoder that a model was made of.
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
    if (folder / _OF_PEFT).exists():
        raise UsageError(
            f"encoder {folder}: {_OF_PEFT} is that of adapters of the library PEFT, whose weights lie elsewhere; merge "
            "them (merge_and_unload of PEFT), save the encoder in a folder of its own, and name that"
        )
    if not weight_files(folder):
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


def weight_files(folder: Path) -> list[Path]:
    """Return the files that an encoder's weights are loaded from; whatever else lies in its folder is not opened.

    Raises:
        UsageError: weights in several files are not all in files of safetensors, in the folder itself.
        OSError: the system refused.
    """
    if (folder / _WEIGHTS[0]).is_file():
        return [folder / _WEIGHTS[0]]
    return _indexed(folder) if (folder / _WEIGHTS[1]).is_file() else []


def _indexed(folder: Path) -> list[Path]:
    """Return the files that an index of weights names."""
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
    return [folder / file for file in sorted(files)]


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


def config_of(values: Mapping[str, Any]) -> Any:
    """Return the configuration from which transformers builds an encoder, without the entries for other programs.

    Args:
        values: the content of a ``config.json``, or of a model file; checked by `check_config`.

    Raises:
        ModelError: no encoder can be built from it.
    """
    with extra("torch", "an encoder"):
        import transformers
    kept = {name: value for name, value in values.items() if name not in UNWANTED and not name.startswith("_")}
    try:
        with _quiet(transformers.utils.logging):
            made = transformers.AutoConfig.for_model(**kept)
        heads, layers = made.num_attention_heads, made.num_hidden_layers
        if heads < 1 or not 1 <= layers <= _MOST_LAYERS:
            raise ModelError(f"{layers} layers with {heads} heads of attention are impossible")
        padding = getattr(made, "pad_token_id", None)
        fits = padding is None or (type(padding) is int and 0 <= padding < made.vocab_size)
        if not fits or (padding is None and made.model_type in _SHIFTED):
            raise ModelError(f"pad_token_id is {padding}, expected one of the {made.vocab_size:,} sub-words")
    except Exception as error:  # of many kinds; their message is all there is to know
        raise ModelError(reason_of(error)) from None
    return made


def check_computes(encoder: Any) -> None:
    """Check that an encoder gives vectors: what a configuration asks for may show only then.

    Raises:
        ModelError: it does not.
    """
    import torch

    ids = torch.zeros((1, LEAST_WINDOW), dtype=torch.int64)
    try:
        with torch.inference_mode():
            found = encoder.eval()(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
    except Exception as error:  # of many kinds; their message is all there is to know
        raise ModelError(f"it computes nothing: {reason_of(error)}") from None
    if found.shape != (*ids.shape, encoder.config.hidden_size):
        raise ModelError(f"it gives vectors of shape {tuple(found.shape)}")


def open_model(path: str | Path) -> Any:
    """Open the weights of an encoder; its tokenizer is not looked at.

    Raises:
        UsageError: the folder holds no encoder, or weights of another shape.
    """
    values = check_folder(path)
    with extra("torch", "an encoder"):
        import torch
        import transformers
    folder = Path(path)
    with _opening(folder, _CONFIG, "is it that of an encoder?"):
        config = config_of(values)
    names = ", ".join(file.name for file in weight_files(folder))
    opening = _opening(folder, names, f"copy the whole folder again, with its {_CONFIG}")
    with opening, _quiet(transformers.utils.logging):
        model, loaded = transformers.AutoModel.from_pretrained(
            folder, config=config, local_files_only=True, trust_remote_code=False, use_safetensors=True,
            dtype=torch.float32, output_loading_info=True,
        )  # fmt: skip
    missing = sorted(name for name in loaded["missing_keys"] if _POOLER not in name)
    if missing or loaded["mismatched_keys"]:
        wrong = [*missing, *(str(key[0]) for key in loaded["mismatched_keys"])]
        raise UsageError(
            f"encoder {folder}: the weights lack {len(wrong):,} arrays of a {values['model_type']}, or have them in "
            f"another shape, such as {wrong[0]}; is {_CONFIG} that of these weights?"
        )
    layers = [int(found[1]) for name in loaded["unexpected_keys"] if (found := _LAYER.search(name))]
    if layers and max(layers) >= config.num_hidden_layers:
        raise UsageError(
            f"encoder {folder}: the weights have {max(layers) + 1} layers, but {_CONFIG} has "
            f"{config.num_hidden_layers}; expected the configuration of these weights"
        )
    odd = next((name for name, weight in model.named_parameters() if not torch.isfinite(weight).all()), None)
    if odd is not None:
        raise UsageError(f"encoder {folder}: the weights of {odd} are not all numbers; copy the whole folder again")
    if hasattr(model, "pooler"):
        model.pooler = None
    return model


def open_encoder(path: str | Path) -> EncoderFolder:
    """Open an encoder.

    Raises:
        UsageError: the folder holds no encoder, weights of another shape, or a tokenizer that does not fit.
    """
    folder, model = Path(path), open_model(path)
    tokenizer, values = _open_tokenizer(folder, model.config)
    rows = model.get_input_embeddings().num_embeddings
    if tokenizer.size > rows:
        raise UsageError(
            f"encoder {folder}: its tokenizer knows {tokenizer.size:,} sub-words, its weights {rows:,}; is the "
            "tokenizer that of these weights?"
        )
    longest = longest_of(model.config, values)
    if longest < LEAST_WINDOW:
        raise UsageError(f"encoder {folder}: it reads {longest} sub-words at once, expected {LEAST_WINDOW} or more")
    with _opening(folder, _CONFIG, "is it that of these weights?"):
        check_computes(model)
    return EncoderFolder(model, tokenizer, longest, digest_of(folder))


def _open_tokenizer(folder: Path, config: Any) -> tuple[SubwordTokenizer, int]:
    """Return the tokenizer of a folder, and the maximum number of sub-words that it declares; 0 without one."""
    import transformers

    with _opening(folder, "the tokenizer", f"is its {_TOKENIZER} in the folder, and whole?"):
        with _quiet(transformers.utils.logging):
            made = transformers.AutoTokenizer.from_pretrained(
                folder, config=config, local_files_only=True, trust_remote_code=False, use_fast=True
            )
        if not hasattr(made, "backend_tokenizer"):
            raise ModelError("there is no fast one for it")
        if len(made) <= len(set(made.all_special_ids)):  # as where transformers found no file of it
            raise ModelError("it knows no sub-words")
        values = made.model_max_length
        return SubwordTokenizer(made.backend_tokenizer.to_str()), values if isinstance(values, int) else 0


def longest_of(config: Any, values: int = 0) -> int:
    """Return how many sub-words an encoder reads at once; those with relative positions only have no bound."""
    positions = int(getattr(config, "max_position_embeddings", 0) or 0)
    padding = 1 if config.model_type == "mpnet" else getattr(config, "pad_token_id", 0) or 0
    shifted = padding + 1 if config.model_type in _SHIFTED else 0
    bounds = [positions - shifted] if positions > 0 else []
    bounds += [int(values)] if 0 < values < MOST_SUBWORDS else []  # tokenizers without a length have more
    return min(bounds, default=MOST_SUBWORDS)


def digest_of(folder: Path) -> str:
    """Return the SHA-256 of the files that an encoder's weights are loaded from.

    Raises:
        UsageError: see `weight_files`.
        OSError: the system refused.
    """
    total = hashlib.sha256()
    for file in weight_files(folder):
        with file.open("rb") as stream:
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()


@contextmanager
def _opening(folder: Path, what: str, remedy: str) -> Iterator[None]:
    """Context that turns errors of libraries on opening a piece of a folder into one line."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # of many kinds; their message is all there is to know
        if _MISMATCHED in str(error):  # it refers to a report that is not shown
            raise UsageError(
                f"encoder {folder}: {what} has arrays in another shape than {_CONFIG}; expected that of these weights"
            ) from None
        raise UsageError(f"encoder {folder}: {what} cannot be opened: {reason_of(error)}; {remedy}") from None


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


# The folder of an encoder that a model names by digest: it may have moved, but not changed.

VARIABLE: Final = "SPANLOOM_ENCODERS"
"""The environment variable that names folders of encoders, or folders that hold such, as PATH names folders."""
_SHOWN: Final = 12  # of a digest's characters


def find_encoder(digest: str, name: str, places: Iterable[Path]) -> Path:
    """Return the folder of the encoder with these weights.

    Args:
        digest: SHA-256 of its weights.
        name: of the folder in which it was.
        places: where to look before the folders that the environment names, and the folders in them, are looked at.

    Raises:
        OtherModelError: it is in none of them.
    """
    named = tuple(places)
    passed: list[str] = []  # folders that are not the one, and why
    seen: set[Path] = set()
    for folder in _candidates(name, named, passed):
        try:
            place = folder.resolve()
            if place in seen:
                continue
            seen.add(place)
            if not weight_files(folder):
                passed += [f"{folder} holds none"] if folder in named else []  # others may hold encoders
                continue
            found = digest_of(folder)
        except (OSError, UsageError) as error:
            passed.append(f"{folder} cannot be read ({reason_of(error)})")
            continue
        if found == digest:
            return folder
        passed.append(f"{folder} holds others ({found[:_SHOWN]})")
    beside = f"; {', '.join(passed)}" if passed else ""
    raise OtherModelError(
        f"its adapters need the weights of the encoder {name!r} ({digest[:_SHOWN]}), which are not where they were"
        f"{beside}; copy its folder into the model's as 'encoder', name the folder that holds it in {VARIABLE}, or "
        "give it: load(..., encoder=FOLDER), or --encoder FOLDER"
    )


def _candidates(name: str, places: Iterable[Path], passed: list[str]) -> Iterator[Path]:
    """Yield folders that may be the encoder's: of those of the environment the ones of its name first.

    Args:
        name: of the folder in which it was.
        places: as of `find_encoder`.
        passed: takes a note of folders that the environment names and that cannot be looked through.
    """
    yield from filter(_is_folder, places)
    held: list[Path] = []
    for place in (Path(text) for text in os.environ.get(VARIABLE, "").split(os.pathsep) if text):
        try:
            inner = sorted(filter(_is_folder, place.iterdir()))
        except OSError as error:
            passed.append(f"{clip(str(place))}, which {VARIABLE} names, cannot be looked through ({reason_of(error)})")
        else:
            held += (place, *inner)
    yield from sorted(held, key=lambda folder: folder.name != name)


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder, as far as the system reports."""
    try:
        return path.is_dir()
    except OSError:
        return False
