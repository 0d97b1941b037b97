"""Taggers that fill a column, such as parts of speech."""
