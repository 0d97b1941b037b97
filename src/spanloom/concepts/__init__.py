"""Linking of given mentions to vocabularies: candidates, a ranker, and the stage of a model that holds both."""
