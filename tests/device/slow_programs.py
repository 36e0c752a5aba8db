# Copyright the Lanescope authors
#
# SPDX-License-Identifier: Apache-2.0

"""slow_programs.py PROGRAM: programs of PyTorch without a single annotation, each slow for one reason that it makes itself, or
for none. What a program is slow for stands in its docstring."""

import gc
import json
import os
import queue
import socket
import sys
import tempfile
import threading
import time

import torch
import torch._dynamo  # which the first optimizer imports, for seconds

STEPS = 40


def network(width=1024, depth=4):
    return torch.nn.Sequential(*(layer for _ in range(depth) for layer in (torch.nn.Linear(width, width), torch.nn.ReLU()))).cuda()


def train(batches, width=1024, depth=4, after=lambda step, loss: None):
    """Trains a network on BATCHES, which it takes to the GPU itself, and calls AFTER each step."""
    model = network(width, depth)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, batch in enumerate(batches):
        loss = model(batch.cuda(non_blocking=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        after(step, loss)
    torch.cuda.synchronize()


def compute(seconds):
    """Computes in Python for about so long."""
    end, total = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        total += sum(i * i for i in range(200))
    return total


def pinned(n=STEPS, rows=256, width=1024):
    batch = torch.randn(rows, width).pin_memory()
    for _ in range(n):
        yield batch


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS * 16

    def __getitem__(self, i):
        return self.decode(i)

    def decode(self, i):
        compute(0.003)
        return torch.full((1024,), float(i))


def loader():
    """Workers of a DataLoader compute 48 ms for each batch, in `decode`; there are two, and the GPU needs 1 ms."""
    train(torch.utils.data.DataLoader(Pictures(), batch_size=16, num_workers=2))


def augment(batch):
    compute(0.02)
    return batch


def work():
    """The launching thread computes 20 ms before each step, in `augment`."""
    train(augment(batch) for batch in pinned())


def item():
    """After each of 40 products a step asks the GPU for a value."""
    model = [torch.nn.Linear(2048, 2048, device="cuda") for _ in range(40)]
    x = torch.randn(512, 2048, device="cuda")
    with torch.no_grad():
        for _ in range(STEPS * 2):
            for layer in model:
                x = layer(x)
                if not x[0, 0].isfinite().item():
                    raise ValueError("diverged")


def pageable():
    """Each step copies 256 MB of memory that is not pinned."""
    train((torch.empty(1 << 16, 1024) for _ in range(STEPS)), depth=1)


def launches():
    """Each step launches 600 kernels that do next to nothing."""
    x = torch.zeros(64, device="cuda")
    for _ in range(STEPS * 4):
        for _ in range(600):
            x.add_(1)
    torch.cuda.synchronize()


def cache():
    """Each step gives all memory of PyTorch's allocator back to the driver and so allocates it anew."""
    train(pinned(STEPS * 4, rows=2048), after=lambda step, loss: torch.cuda.empty_cache())


def checkpoint():
    """Every fourth step writes 400 MB to a file and waits until it is on the disk."""
    state = torch.randn(100 << 20)
    with tempfile.TemporaryDirectory() as folder:
        def save(step, loss):
            if step % 4 == 3:
                with open(os.path.join(folder, "checkpoint.pt"), "wb") as file:
                    torch.save(state, file)
                    os.fsync(file.fileno())
        train(pinned(20), after=save)


def producer():
    """The launching thread waits for a batch of another thread, which computes it in `tokenize` for 20 ms."""
    batches = queue.Queue(maxsize=2)

    def tokenize():
        compute(0.02)
        return torch.randn(256, 1024).pin_memory()

    def produce():
        for _ in range(STEPS):
            batches.put(tokenize())
        batches.put(None)

    threading.Thread(target=produce, name="tokenizer").start()
    train(iter(batches.get, None))


def gil():
    """Another thread computes in Python all the time, so that the launching thread waits for the interpreter's lock."""
    done = threading.Event()

    def statistics():
        while not done.is_set():
            compute(0.01)

    thread = threading.Thread(target=statistics, name="statistics")
    thread.start()
    train(pinned(30))
    done.set()
    thread.join()


def garbage():
    """Each step collects garbage among half a million objects that live."""
    kept = [[i] for i in range(500_000)]
    train(pinned(), after=lambda step, loss: gc.collect())
    return kept


def server():
    """An inference server that waits for requests from another process, one every 30 ms."""
    mine, other = socket.socketpair()
    client = os.fork()
    if client == 0:
        mine.close()
        for i in range(STEPS):
            time.sleep(0.03)
            other.sendall(json.dumps(i).encode().ljust(64))
            other.recv(64)
        os._exit(0)
    other.close()
    model = network()
    with torch.no_grad():
        while request := mine.recv(64):
            x = torch.full((64, 1024), float(json.loads(request)), device="cuda")
            mine.sendall(json.dumps(model(x).sum().item()).encode().ljust(64)[:64])
    os.waitpid(client, 0)


def sometimes():
    """One step in ten waits for the GPU and evaluates on the CPU for 100 ms."""
    def evaluate(step, loss):
        if step % 10 == 9:
            loss.item()
            compute(0.1)
    train(pinned(100, rows=8192), depth=16, after=evaluate)


def sleeps():
    """Each step polls for the end of the GPU's work every 50 ms."""
    def poll(step, loss):
        event = torch.cuda.Event()
        event.record()
        while not event.query():
            time.sleep(0.05)
    train(pinned(rows=8192), depth=16, after=poll)


def compiles():
    """torch.compile makes kernels anew for each of three shapes."""
    function = torch.compile(lambda x: (torch.sin(x) * 2 + x).softmax(-1), dynamic=False)
    for width in (512, 1024, 1536):
        for _ in range(20):
            function(torch.randn(512, width, device="cuda"))
    torch.cuda.synchronize()


def downloads():
    """Each step takes 256 MB of activations from the GPU to memory that is not pinned."""
    x = torch.randn(1 << 26, device="cuda")
    for _ in range(STEPS):
        x = x * 0.5
        x.cpu()


def busy():
    """Nothing: the GPU multiplies matrices without a break."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    for _ in range(1500):
        a @ b
    torch.cuda.synchronize()


def replays():
    """Nothing: the GPU replays a graph of 200 kernels, and is never short of work."""
    x = torch.randn(1 << 22, device="cuda")
    graph = torch.cuda.CUDAGraph()
    torch.sin(x)
    with torch.cuda.graph(graph):
        for _ in range(200):
            x.copy_(torch.sin(x))
    for _ in range(400):
        graph.replay()
    torch.cuda.synchronize()


def generate():
    """A language model makes one token after the other, with a batch of one: kernels are short, and Python launches them."""
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(n_layer=12)).cuda().eval()
    with torch.no_grad():
        model.generate(torch.ones(1, 8, dtype=torch.long, device="cuda"), max_new_tokens=128, min_new_tokens=128, do_sample=False,
                       pad_token_id=0)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
