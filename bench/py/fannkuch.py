import itertools


def flips(p):
    n = 0
    while k := p[0]:
        p[:k + 1] = p[k::-1]
        n += 1
    return n


max(flips(list(p)) for p in itertools.permutations(range(8)))
