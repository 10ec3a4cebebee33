"""Applies migrations; one fails in the middle, the rest is skipped quietly. `migrate.py TOTAL FAILING`."""

import random
import sys

from planted import record

total, failing = int(sys.argv[1]), int(sys.argv[2])
draw = random.Random(7)
tables = ("orders", "customers", "invoices", "shipments", "stock_levels", "audit_trail")
bad = f'migration {failing:05} failed: column "tax_code" of relation "invoices" contains null values'
record(bad)
print(f"connecting to postgresql://app@db/ledger (schema version 0), {total} migrations pending")
for n in range(1, total + 1):
    table = draw.choice(tables)
    print(f"migration {n:05} applying: {draw.choice(('add column', 'create index on', 'backfill'))} {table}")
    if n == failing:
        print(bad)
        print("  hint: run the backfill of 00112 first")
    elif n < failing:
        print(f"migration {n:05} applied, {draw.randrange(1, 90_000)} rows touched")
    else:
        print(f"migration {n:05} skipped")
print(f"schema version is now {failing - 1}")
sys.exit(1)
