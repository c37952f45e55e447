def a(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(u, turned):
    n = range(len(u))
    return [sum((a(j, i) if turned else a(i, j)) * u[j] for j in n) for i in n]


u = [1.0] * 90
for _ in range(6):
    v = times(times(u, False), True)
    u = times(times(v, False), True)
sum(u)
