import re

text = "".join(f"person{i}@mail.example wrote on 2026-0{i % 9 + 1}-1{i % 10}; "
               for i in range(3000))
n = 0
for _ in range(5):
    n += len(re.sub(r"([\w.]+)@([\w.]+)", r"\2:\1", text))
    n += len(re.findall(r"(\d{4})-(\d\d)-(\d\d)", text))
n
