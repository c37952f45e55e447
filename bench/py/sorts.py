import random

r = random.Random(1)
numbers = [r.random() for _ in range(60000)]
texts = [f"{x:.6f}" for x in numbers]
rows = list(zip(texts, numbers))
n = 0
for _ in range(3):
    n += sorted(numbers)[0] + len(sorted(texts)[0])
    n += sorted(rows, key=lambda row: -row[1])[0][1]
n
