"""One line of 300 KB between short ones, the decisive word inside it. `oneline.py KB`."""

import sys

from planted import record

kilobytes = int(sys.argv[1])
bad = "upload rejected: quota of 25 GiB exceeded by 3 MiB"
record(bad)
print("POST /v1/bundles")
part = "chunk=" + "0123456789abcdef" * 20 + ";"
body = part * (kilobytes * 1024 // len(part))
print(body)
print(bad)
sys.exit(22)
