from spanloom.link.linker import PAPER_FEATURES as PAPER_FEATURES
from spanloom.link.linker import Linker as Linker
from spanloom.link.linker import load as load
from spanloom.link.pipeline import Pipeline as Pipeline
from spanloom.link.report import LinkReport as LinkReport
