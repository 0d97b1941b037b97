"""Attributes of mentions."""
