"""A long job with a bar that is redrawn with carriage returns. `train.py EPOCHS`."""

import random
import sys

from planted import record

epochs = int(sys.argv[1])
draw = random.Random(17)
best = epochs - 4
value = "0.9127"
record(f"best epoch {best}: accuracy {value}", items=[{"identity": value, "kind": "value"}],
       decisive=[f"best epoch {best}: accuracy {value}", "loss became nan in epoch 9, batch 31; learning rate halved"])
for epoch in range(1, epochs + 1):
    for batch in range(0, 101, 4):
        bar = "█" * (batch // 5) + "·" * (20 - batch // 5)
        sys.stderr.write(f"\repoch {epoch:3} {batch:3}%|{bar}| loss {draw.random():.4f}")
    sys.stderr.write("\n")
    if epoch == 9:
        print("loss became nan in epoch 9, batch 31; learning rate halved")
    print(f"epoch {epoch} validation accuracy {draw.uniform(0.4, 0.9):.4f}")
print(f"best epoch {best}: accuracy {value}")
