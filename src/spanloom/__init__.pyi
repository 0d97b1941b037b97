from spanloom.document import Document as Document
from spanloom.document import Mention as Mention
from spanloom.document import Section as Section
from spanloom.document import Span as Span
from spanloom.errors import DataWarning as DataWarning
from spanloom.errors import SpanloomError as SpanloomError
from spanloom.formats import read as read
from spanloom.formats import write as write
from spanloom.link import Linker as Linker
from spanloom.models import load as load
from spanloom.recognize import Recognizer as Recognizer
from spanloom.segment import Segmenter as Segmenter

__version__: str
