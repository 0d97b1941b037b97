from spanloom.document.span import normalize_identifier as normalize_identifier
from spanloom.vocabulary.read import VOCABULARY_FORMATS as VOCABULARY_FORMATS
from spanloom.vocabulary.read import read_vocabulary as read_vocabulary
from spanloom.vocabulary.records import Concept as Concept
from spanloom.vocabulary.records import Note as Note
from spanloom.vocabulary.store import Vocabulary as Vocabulary
from spanloom.vocabulary.table import read_concepts as read_concepts
