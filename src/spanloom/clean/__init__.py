"""Annotation errors: gold mentions that are probably wrong, missing, or of another extent or type, by cross-fitting."""

from spanloom.clean.crossfit import JudgedDocument as JudgedDocument
from spanloom.clean.crossfit import judge as judge
from spanloom.clean.finding import find_suspects as find_suspects
from spanloom.clean.finding import not_judged as not_judged
from spanloom.clean.finding import recognizer_of as recognizer_of
from spanloom.clean.finding import with_suspects as with_suspects
from spanloom.clean.page import suspects_page as suspects_page
from spanloom.clean.suspects import Suspect as Suspect
from spanloom.clean.suspects import suspects_of as suspects_of
