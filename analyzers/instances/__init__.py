"""Says how to build a class and inputs that run: every size is asked for by name, so that one recipe serves
concrete runs and symbolic ones."""
