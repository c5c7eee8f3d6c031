"""Generated modules turn parameters into costs: rendered from the database, never edited by hand."""
