"""Recognize and link to a vocabulary together (Lou et al. 2017), and the language model beside it."""
