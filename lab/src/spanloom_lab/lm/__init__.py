"""Language models of word n-grams, with Kneser-Ney smoothing; template 15 of Lou et al. (2017)."""
