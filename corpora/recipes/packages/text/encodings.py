"""Bytes that are not UTF-8, wide characters, combining marks; the decisive line is plain. `encodings.py LINES`."""

import sys

from planted import record

bad = "row 211: could not be decoded (byte 0xE9 at column 14)"
record(bad)
out = sys.stdout.buffer
for n in range(int(sys.argv[1])):
    out.write(f"row {n}: ".encode())
    out.write((b"caf\xe9 cr\xe8me \xff\xfe", "日本語テキスト — naïve café".encode(), "e\u0301\u0301a\u0308 ✓ 🍵".encode(), b"plain")[n % 4])
    out.write(b"\r\n" if n % 5 == 0 else b"\n")
    if n == 211:
        out.write(bad.encode() + b"\n")
out.write("fin — no line feed at the end ✓".encode())
out.flush()
sys.exit(1)
