import json

rows = [{"id": i, "name": f"row {i}", "tags": ["a", "b", "é"], "at": i * 1.5,
         "more": {"on": i % 2 == 0, "none": None}} for i in range(2000)]
n = 0
for _ in range(12):
    text = json.dumps(rows)
    n += len(text) + len(json.loads(text))
n
