"""What a model proposes: formulas, structure, prose; all held against measurement or the source."""
