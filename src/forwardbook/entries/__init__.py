"""What is stored of a class: the cost of its own lines and the calls that it makes, in its own names."""
