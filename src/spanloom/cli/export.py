"""`spanloom export`: a model with an encoder, for prediction without PyTorch."""

from __future__ import annotations

from spanloom.cli.messages import Messages
from spanloom.cli.train import MODEL_FILES
from spanloom.errors import UsageError
from spanloom.files.output import output_folder, own_files
from spanloom.models import load
from spanloom.recognize.exporting import to_onnx


def run(
    model: str,
    onnx: bool,
    output: str,
    precision: str,
    window: int | None,
    encoder: str | None,
    force: bool,
    quiet: bool,
) -> None:
    """Export a model."""
    if not onnx:
        raise UsageError("no form to export to; there is one: --onnx")
    with output_folder(output, force=force, may_replace=own_files(output, MODEL_FILES)) as folder:
        made = to_onnx(load(model, encoder=encoder), precision, window)
        made.save(folder)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    say = Messages(quiet)
    say(f"the encoder is an ONNX graph with products of {precision}; the model has {size:,.1f} MB")
    say(f"saved as {output}")
