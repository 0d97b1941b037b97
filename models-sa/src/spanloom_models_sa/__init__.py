"""Models for Spanloom under share-alike licences, described by ``catalogue.json``; see `spanloom.models.installed`."""

from pathlib import Path

FOLDER = Path(__file__).parent
"""The folder of ``catalogue.json`` and of the models that it names."""
