"""A server that starts, serves, meets an early cause and dies late with another message. `server.py REQUESTS`."""

import random
import sys

from planted import record

requests = int(sys.argv[1])
draw = random.Random(13)
cause = "cannot open /etc/shop/tls/fullchain.pem: permission denied; falling back to plain http"
end = "giving up: 500 consecutive health checks refused by load balancer lb-2"
record(cause, end)
print("shop server 4.18.2 starting with 8 workers")
print("loaded 214 routes from routes.yaml")
print(cause)
print("listening on 0.0.0.0:8080")
for n in range(requests):
    path = draw.choice(("/", "/cart", "/search?q=tea", "/api/v2/stock", "/static/app.js"))
    print(f"worker {n % 8} served {path} to 10.0.{draw.randrange(256)}.{draw.randrange(256)} with {draw.choice((200, 200, 200, 304, 404))}")
print(end)
print("draining workers")
for n in range(6):
    print(f"worker {n} stopped")
sys.exit(70)
