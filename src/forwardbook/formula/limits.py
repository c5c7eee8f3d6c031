"""The bounds that keep every formula finite in time and space; a FormulaError says which was exceeded."""

MAX_TERMS = 50_000  # terms of one expression; the largest model totals seen have a few hundred
MAX_PRODUCTS = 4_000_000  # term products of one multiplication, about two seconds
MAX_FACTORS = 64  # distinct atoms of one term
MAX_EXPONENT = 64  # of one atom in one term
MAX_DIGITS = 4_000  # decimal digits of a coefficient, below Python's own limit for printing an integer
MAX_COEFFICIENT = 10**MAX_DIGITS
MAX_NESTING = 40  # rounded divisions, minima and maxima inside each other; far from the recursion limit
MAX_NAME = 200  # characters of a symbol's name

MAX_TEXT = 200_000  # characters of a formula that is parsed or printed
MAX_DEPTH = 120  # parentheses and calls nested in a formula that is parsed; printing needs three a nesting
MAX_LITERAL = 100  # digits of one integer literal
MAX_PARSED_WORK = 900_000  # steps of the algebra while a formula of SHORT_TEXT characters is parsed
SHORT_TEXT = 10_000  # a longer text may take more steps, in proportion
MAX_ARGUMENTS = 256  # of one min(...) or max(...)

MAX_DIVISION_WORK = 200_000  # coefficient updates of one polynomial division; beyond it, opaque
MAX_MERGED_TERMS = 16  # of the divisor of two rounded divisions made one
MAX_PROOF_WORK = 20_000  # terms looked at by one at_least, about 20 ms
MAX_SIMPLIFYING_WORK = 1_000  # the same for one claim on which a simplification hangs
MAX_COMPARED_ARGUMENTS = 32  # arguments of min/max compared in pairs; more are only deduplicated
