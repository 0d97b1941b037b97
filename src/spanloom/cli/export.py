"""`spanloom export`: a model with an encoder, for prediction without PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spanloom.cli.messages import Messages
from spanloom.cli.train import MODEL_FILES
from spanloom.errors import UsageError
from spanloom.files.output import output_folder, own_files
from spanloom.models import load
from spanloom.recognize.exporting import to_onnx

if TYPE_CHECKING:
    from spanloom.cli.app import Export


def run(args: Export) -> None:
    """Export a model."""
    if not args.onnx:
        raise UsageError("no form to export to; there is one: --onnx")
    with output_folder(args.output, force=args.force, may_replace=own_files(args.output, MODEL_FILES)) as folder:
        made = to_onnx(load(args.model, encoder=args.encoder), args.precision, args.window)
        made.save(folder)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    say = Messages(args.quiet)
    say(f"the encoder is an ONNX graph with products of {args.precision}; the model has {size:,.1f} MB")
    say(f"saved as {args.output}")
