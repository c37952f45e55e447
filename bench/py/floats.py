from math import cos, sin, sqrt


class Point:
    __slots__ = ("x", "y", "z")

    def __init__(self, i):
        self.x = x = sin(i)
        self.y = cos(i) * 3
        self.z = x * x / 2

    def unit(self):
        n = sqrt(self.x ** 2 + self.y ** 2 + self.z ** 2)
        self.x /= n
        self.y /= n
        self.z /= n


points = [Point(i) for i in range(60000)]
for p in points:
    p.unit()
max(p.x for p in points)
