"""A job log that prints credentials in passing; the decisive line holds none. `secrets.py`."""

import sys

from planted import record

bad = "deploy: artifact web-4411 was not signed, rollout stopped"
record(bad)
print("export AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY")
print("Authorization: Bearer " + "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiJkZW1vIn0." + "c2lnbmF0dXJlLWV4YW1wbGU")
print("cloning https://ci:" + "hunter2-example" + "@git.example.invalid/web.git")
for n in range(400):
    print(f"token {n} of 400 read by the lexer: secret sauce recipe, password field left empty")
    if n == 222:
        print(bad)
sys.exit(6)
