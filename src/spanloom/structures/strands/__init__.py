"""Mentions that run along strands of nodes: what SHARED, SPLIT and the model with heads are made of."""
