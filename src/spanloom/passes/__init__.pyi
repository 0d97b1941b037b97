from spanloom.passes.choosing import PassData as PassData
from spanloom.passes.choosing import choose_passes as choose_passes
from spanloom.passes.first import COLUMNS as COLUMNS
from spanloom.passes.first import TEMPLATES as TEMPLATES
from spanloom.passes.first import DocumentPass as DocumentPass
from spanloom.passes.first import PassSettings as PassSettings
from spanloom.passes.first import fit_pass as fit_pass
from spanloom.passes.first import is_worth_two_passes as is_worth_two_passes
