"""Annotation errors: gold mentions that are probably wrong, missing, or of another extent or type, by cross-fitting."""

from spanloom.clean.page import suspects_page as suspects_page
from spanloom.clean.suspects import JudgedDocument as JudgedDocument
from spanloom.clean.suspects import Suspect as Suspect
from spanloom.clean.suspects import find_suspects as find_suspects
from spanloom.clean.suspects import judge as judge
from spanloom.clean.suspects import not_judged as not_judged
from spanloom.clean.suspects import recognizer_of as recognizer_of
from spanloom.clean.suspects import suspects_of as suspects_of
from spanloom.clean.suspects import with_suspects as with_suspects
