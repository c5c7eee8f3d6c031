"""Classes and what people say of them in; their entries out, one by one or many."""
