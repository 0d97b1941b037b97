"""Abbreviations whose full stop does not end a sentence, in lower case and without their last full stop."""

from __future__ import annotations

from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


INSIDE: Final = _set(
    """
    dr drs mr mrs ms prof st mt rev hon gen col sgt lt capt messrs pt pts fig figs eq eqs ref refs sect
    suppl tab tabs chap ch vol ed eds pp cf vs viz i.e e.g ie eg v approx ca c.f circa ph resp incl excl esp ave
    dept univ est dx hx rx tx sx fx var subsp ssp cv nov gen sp str
    bzw vgl ggf inkl evtl z.b d.h u.a
    ej ee pág aprox bl.a t.ex p.ex p.es
    sig sig.ra sigg dott dott.ssa prof.ssa avv dhr mevr mej hab mgr inż
    проф акад доц ул вул им див
    δρ καθ βλ डॉ प्रो
    """
)
"""A sentence never ends here."""

BEFORE_NUMBER: Final = _set(
    """
    no nos nr p art al inc para par chr figure table ext tel jan feb mar apr jun jul aug sept sep oct nov dec
    abb núm janv févr juil déc blz bijv kl tj ryc rys рис табл стр вып буд σελ εικ πίν
    """
)
"""A sentence does not end here if a number follows: No. 5."""

SOMETIMES: Final = _set(
    """
    al etc inc corp ltd co llc gmbh jr sr ph.d m.d ph.d.s b.sc m.sc d.v.m r.n u.s u.k u.s.a u.n e.u d.c spp ext
    int med ul
    """
)
"""A sentence ends here only if the next word is one that begins sentences."""

TITLES: Final = _set(
    """
    MM Mme Mmes Mlle Mlles Mgr Ste Sra Sras Srta Dra Dras Dña Profa Profs Av Avda Fr Hr Hrn
    """
)
"""A name follows these, written so: MM. Dupont; but a sentence ends after *multiple myeloma (MM)*."""

BEFORE_ORDINAL: Final = _set(
    """
    ab am beim bis das dem den der des die im jedem jeden oder seit und vom zum zur
    """
)
"""Between one of these and a noun a number with a full stop is a German ordinal: seit dem 3. Lebensjahr."""

MONTHS: Final = _set("Januar Jänner Februar Feber März Mai Juni Juli Oktober Dezember")
"""Months that no English sentence begins with: a number with a full stop before them is a day."""

OTHER_STARTERS: Final = _set(
    """
    Après Au Aucun Aucune Avec Ce Ces Cette Dans Depuis Elle Elles En Il Ils La Le Les L'examen Nous On Pas Patient
    Patiente Pour Sa Sans Ses Son Sur Un Une
    Al Con Desde El Ella Ellos Este Esta Los Las Niega No Paciente Para Por Se Sin Su Tras Un Una
    Am Bei Das Der Die Ein Eine Er Es Im In Kein Keine Mit Nach Sie
    """
)
"""Words that begin a sentence after *etc.* in French, Spanish and German; elsewhere they may be parts of names."""

LETTERED: Final = _set(
    """
    alpha apolipoprotein arm beta box case chain class complex cyclosporin cyclosporine domain erb factor gamma
    gene grade group hepatitis immunoglobulin influenza kappa lane lanes panel part phase protein site stage
    step strain subunit table troponin type vitamin
    """
)
"""Words that a single letter follows without being a name's initial: vitamin D, NF-kappa B."""

STARTERS: Final = _set(
    """
    A Additionally After All Also Although An Analysis And Another Any Are As At Because Before Between Both But
    By Can Cells Compared Consistent Conversely Data Despite Did Do Does During Each Either Even Finally First
    Following For From Further Furthermore Given Had Has Have He Hence Her Here His How However I If Importantly
    In Indeed Interestingly Is It Its Lastly Many Mice More Moreover Most My Neither Nevertheless Next No None
    Nor Not Notably Now Of On Once One Only Or Other Our Out Over Overall Patient Patients Please Previous
    Previously Recent Recently Results Second Several She Similar Similarly Since So Some Still Studies
    Subsequently Such Taken That The Their Then There Therefore These They This Those Though Three Through Thus
    To Together Two Under Unlike Until Upon Using Was We Were What When Where Whereas Whether Which While Who
    Why Will With Within Without You Your
    """
)
"""Words that, with a capital, begin a sentence and not a name."""
