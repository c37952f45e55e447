BODIES = [
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 39.47],
    [[4.84, -1.16, -0.10], [0.60, 2.81, -0.02], 0.037],
    [[8.34, 4.12, -0.40], [-1.01, 1.82, 0.008], 0.011],
    [[12.89, -15.11, -0.22], [1.08, 0.86, -0.01], 0.0017],
    [[15.37, -25.9, 0.17], [0.97, 0.59, -0.03], 0.002],
]
PAIRS = [(a, b) for i, a in enumerate(BODIES) for b in BODIES[i + 1:]]


def advance(dt):
    for ((x1, y1, z1), v1, m1), ((x2, y2, z2), v2, m2) in PAIRS:
        dx, dy, dz = x1 - x2, y1 - y2, z1 - z2
        mag = dt * ((dx * dx + dy * dy + dz * dz) ** -1.5)
        a, b = m1 * mag, m2 * mag
        v1[0] -= dx * b
        v1[1] -= dy * b
        v1[2] -= dz * b
        v2[0] += dx * a
        v2[1] += dy * a
        v2[2] += dz * a
    for r, (vx, vy, vz), _ in BODIES:
        r[0] += dt * vx
        r[1] += dt * vy
        r[2] += dt * vz


for _ in range(12000):
    advance(0.01)
BODIES[0][0]
