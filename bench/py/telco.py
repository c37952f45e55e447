from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal

cent, sums = Decimal("0.01"), [Decimal(0)] * 3
for i in range(40000):
    far = i % 2
    p = (Decimal(i * 37 % 10007) * Decimal("0.00894" if far else "0.0013")
         ).quantize(cent, ROUND_HALF_EVEN)
    tax = (p * Decimal("0.0675")).quantize(cent, ROUND_DOWN)
    sums[0] += p
    sums[1] += tax
    if far:
        sums[2] += (p * Decimal("0.0341")).quantize(cent, ROUND_DOWN)
sums
