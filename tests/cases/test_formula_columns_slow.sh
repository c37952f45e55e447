#!/bin/sh
# Millions of rows more of formula_columns.c, of other seeds each day.
# test-seconds: 1200
set -eu
day=$(date +%s)
day=$((day / 86400))
for n in 1 2 3 4 5 6; do
	seed=$((day * 10 + n))
	echo "# seed $seed"
	"$REDOMA_BUILD/tests/cases_formula_columns" "$seed" 1500
done
