"""The ledger of an annotated lake: the job and the state of each fragment, in JSON files in ``_spanloom``.

``job.json`` has the model and the settings. ``done`` has a record for each finished fragment, which is written after
the fragment's output is in place: a job that is killed between the two repeats the fragment. ``claims`` has the
fragments in progress, ``manifest.json`` all records together.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from spanloom import __version__
from spanloom.errors import DataError, UsageError
from spanloom.files.output import output_file, writing
from spanloom.files.staging import NEW, staged
from spanloom.files.walk import everything, read_plain
from spanloom.lake.annotator import Annotator
from spanloom.lake.fragments import Fragment, output_of

if TYPE_CHECKING:
    from pyarrow import Schema

FORMAT: Final = 1
_FOLDER: Final = "_spanloom"  # which readers of folders of tables pass over
_COUNTS: Final = ("rows", "mentions", "problems")
_LARGEST: Final = 1 << 22  # bytes of a file of the ledger
_DAMAGED: Final = "damaged, expected what Spanloom wrote; name another output"


class Ledger:
    """The ledger of an output folder; made by `open`.

    Args:
        output: the folder.
        job: the content of ``job.json``.
    """

    def __init__(self, output: Path, job: Mapping[str, Any]) -> None:
        import pyarrow as pa

        self.output, self._job = output, job
        self.folder = output / _FOLDER
        try:
            self.schema: Schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(job["schema"])))
        except (KeyError, TypeError, ValueError, OSError):
            raise DataError(_DAMAGED, path=self.folder / "job.json") from None

    @classmethod
    def open(cls, output: Path, annotator: Annotator, schema: Schema) -> Ledger:
        """Open the ledger of a folder, or create it.

        Args:
            output: the folder, which may be missing.
            annotator: model and settings.
            schema: of the output; an existing ledger's own takes precedence.

        Raises:
            UsageError: the folder has other content, or was begun with another model or other settings.
            DataError: the ledger is damaged, or the system refused to write.
        """
        file = output / _FOLDER / "job.json"
        names = ["text", "id", "keep", "threshold", "longest"]
        names += ["expand"] * annotator.expand  # without it, so that jobs of versions without it resume
        values = {name: getattr(annotator, name) for name in names}
        settings = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        asked = {"format": FORMAT, "model": annotator.digest, "settings": settings}
        used = output.exists() and (not output.is_dir() or any(path.name != _FOLDER for path in output.iterdir()))
        if used and not file.exists():
            raise UsageError(f"{output} is there already, and is no lake that Spanloom annotated; name another output")
        with writing(output):
            for folder in (output / _FOLDER, output / _FOLDER / "claims", output / _FOLDER / "done"):
                _check_no_link(folder)
                folder.mkdir(parents=True, exist_ok=True)  # again, too, as who copies folders may leave out empty ones
            if not file.exists():
                said = {**asked, "schema": base64.b64encode(schema.serialize().to_pybytes()).decode()}
                _write_first(file, json.dumps(said, indent=1))
        found = _read(file)
        for name, value in asked.items():
            if found.get(name) != value:
                raise UsageError(
                    f"{output} was begun with {name} {_shown(found.get(name))}, and this is {_shown(value)}; give what "
                    "it was begun with, or name another output"
                )
        return cls(output, found)

    def record(self, fragment: Fragment) -> dict[str, Any] | None:
        """Return the record of a fragment, if it is finished and has not changed since."""
        try:
            found = _read(self._file(fragment.name))
        except DataError:
            return None  # cut off by a full disk, or not there: the fragment is done again
        same = (found.get("bytes"), found.get("time")) == (fragment.size, fragment.time)
        same &= all(type(found.get(name)) is int and found[name] >= 0 for name in _COUNTS)  # else it is damaged
        same &= type(found.get("seconds")) in (int, float) and 0 <= found["seconds"] < math.inf
        if not same or not (self.output / fragment.output).exists():
            return None
        return {name: found[name] for name in ("bytes", "time", *_COUNTS, "seconds")}

    def place(self, fragment: Fragment) -> Path:
        """Return where the output of a fragment is written.

        Raises:
            DataError: it would be elsewhere, by a link in the output folder.
        """
        place = self.output / fragment.output
        for path in (place, *place.parents):
            if path == self.output:
                break
            _check_no_link(path)
        return place

    def note(self, fragment: Fragment, counts: Mapping[str, int], seconds: float) -> None:
        """Write the record of a fragment whose output is in place.

        Raises:
            DataError: the system refused to write.
        """
        record = {
            "fragment": fragment.name,
            "bytes": fragment.size,
            "time": fragment.time,
            **{name: counts.get(name, 0) for name in _COUNTS},
            "seconds": round(seconds, 3),
        }
        _write(self._file(fragment.name), json.dumps(record))

    def write_manifest(self, fragments: Iterable[Fragment], failed: Mapping[str, str]) -> dict[str, Any]:
        """Write all records as one file, and return its content.

        Args:
            fragments: of the lake.
            failed: name of a fragment -> why it is not there.

        Raises:
            DataError: the system refused to write.
        """
        records = {fragment.name: self.record(fragment) for fragment in fragments}
        done = {name: record for name, record in records.items() if record is not None}
        totals = {name: sum(record[name] for record in done.values()) for name in _COUNTS}
        manifest = {
            **{name: value for name, value in self._job.items() if name != "schema"},
            "spanloom": __version__,
            **totals,
            "fragments": done,
            "failed": {name: reason for name, reason in failed.items() if name not in done},
            "missing": [name for name in records if name not in done and name not in failed],
            "gone": self._gone(records),
        }
        _write(self.folder / "manifest.json", json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")
        return manifest

    def _gone(self, there: Iterable[str]) -> list[str]:
        """Return the fragments whose output is there, but which the lake has no more, by name."""
        known, found = {self._file(name).name for name in there}, []
        others = [file for file in (self.folder / "done").glob("*.json") if file.name not in known]
        if not others:
            return []
        outputs = {path.relative_to(self.output).as_posix() for path in everything(self.output)}
        outputs -= {output_of(name) for name in there}
        for file in others:
            try:
                name = _read(file).get("fragment")
            except DataError:
                continue  # a record that is damaged says nothing; the fragment, if it comes again, is done again
            if isinstance(name, str) and output_of(name) in outputs:
                found.append(name)
        return sorted(found)

    def _file(self, name: str) -> Path:
        return self.folder / "done" / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"


def _write_first(file: Path, text: str) -> None:
    """Write a file whole, unless another job was first."""
    with staged(file) as folder:
        draft = folder / NEW / file.name
        draft.write_text(text, encoding="utf-8")
        try:
            os.link(draft, file)
        except OSError:
            if not file.exists():  # a file system without hard links, as buckets that are mounted
                draft.replace(file)


def _write(file: Path, text: str) -> None:
    _check_no_link(file)
    with output_file(file, force=True) as sink:
        sink.write(text)


def _check_no_link(path: Path) -> None:
    """Check that a path in an output folder is no link, by which something elsewhere would be written, and no pipe.

    Raises:
        DataError: it is one.
    """
    mode = path.lstat().st_mode if os.path.lexists(path) else stat.S_IFREG
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "a link" if stat.S_ISLNK(mode) else "a pipe or the like"
        raise DataError(f"{kind} in an output folder, which is not followed; remove it", path=path)


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_plain(file, _LARGEST))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=file) from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError(_DAMAGED, path=file)
    return found


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
