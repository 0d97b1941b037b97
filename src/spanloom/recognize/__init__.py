"""The trainable recognizer: fit, predict, save, load."""

from spanloom.recognize.ambiguity import ReadBack, read_back
from spanloom.recognize.corpus import Lost
from spanloom.recognize.recognizer import Recognizer, load
from spanloom.recognize.report import Report
from spanloom.recognize.training import Progress

__all__ = ["Lost", "Progress", "ReadBack", "Recognizer", "Report", "load", "read_back"]
