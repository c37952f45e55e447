from collections import Counter, defaultdict

words = [f"w{i * i % 977}" for i in range(60000)]
n = Counter(words)
where = defaultdict(list)
for i, w in enumerate(words):
    where[w].append(i)
text = " ".join(words)
both = {}
for w in text.split():
    both[w.upper()] = both.get(w.upper(), 0) + len(where[w]) - n[w]
sorted(n.items(), key=lambda kv: (-kv[1], kv[0]))[:3]
