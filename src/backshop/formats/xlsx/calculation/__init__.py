"""Results of formulas: what a change reaches, computed again or taken out (F24)."""
