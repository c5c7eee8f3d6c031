def two_thirds(h, m):
    h = int(2 * h / 3)
    return m * ((h + m - 1) // m)
