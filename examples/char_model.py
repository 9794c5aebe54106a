"""Train a small transformer to continue the text of Python's own documentation, character by character.

Data: the help topics that Python ships in pydoc_data, half a million characters; the last tenth is held out. The model
is one transformer block, whose attention is written out; its softmax is that of right_functions.py, with its own
derivative, over which `gradwright check` goes first.

Prints how many bits the model needs for a held-out character, beside a model that knows only the one before (bigram),
and a text it makes up; draws the losses and saves the parameters.
"""

import math
from pydoc_data.topics import topics

import gradwright as gw
from gradwright import nn
from gradwright.nn import functional as F
from gradwright.utils.data import DataLoader, Dataset, RandomSampler
from right_functions import Softmax
from workbench import draw, options, progress, verify

CONTEXT, BATCH = 64, 16


class Attention(nn.Module):
    """Each place looks at itself and those before it: (n, places, width) to the same."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.queries_keys_values, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        n, places, width = x.shape
        parts = self.queries_keys_values(x).chunk(3, -1)
        q, k, v = (part.view(n, places, self.heads, -1).transpose(1, 2) for part in parts)
        later = gw.ones(places, places, dtype=gw.bool).triu(1)
        match = (q @ k.mT / math.sqrt(width / self.heads)).masked_fill(later, -math.inf)
        return self.out((Softmax.apply(match) @ v).transpose(1, 2).reshape(n, places, width))


class CharModel(nn.Module):
    """Scores of the next character at each place: (n, places) to (n, places, characters)."""

    def __init__(self, characters, width=128, heads=4):
        super().__init__()
        self.character, self.place = nn.Embedding(characters, width), nn.Embedding(CONTEXT, width)
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width, heads))
        wide = 4 * width
        self.think = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, wide), nn.GELU(), nn.Linear(wide, width))
        self.scores = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, characters))

    def forward(self, text):
        x = self.character(text) + self.place.weight[: text.shape[1]]
        x = x + self.attention(x)
        return self.scores(x + self.think(x))


class Windows(Dataset):
    """Pieces of CONTEXT characters, one beginning at every `stride` characters, and what follows each of them."""

    def __init__(self, text, stride=1):
        self.text, self.stride = text, stride

    def __len__(self):
        return (len(self.text) - CONTEXT - 1) // self.stride + 1

    def __getitem__(self, i):
        piece = self.text[i * self.stride : i * self.stride + CONTEXT + 1]
        return piece[:-1], piece[1:]


def bits(model, batch):
    """Cross-entropy in bits per character."""
    before, after = batch
    return F.cross_entropy(model(before).flatten(0, 1), after.flatten()) / math.log(2)


@gw.no_grad()
def held_out_bits(model, text):
    loader = DataLoader(Windows(text, CONTEXT), 64, drop_last=True)
    return gw.stack([bits(model, batch) for batch in loader]).mean().item()


def bigram_bits(text, held_out, characters):
    """What it takes to know of each pair of characters how often it occurs in the training text."""
    pairs = gw.full((characters, characters), 0.1)
    pairs.view(-1).index_add_(0, text[:-1] * characters + text[1:], gw.ones(len(text) - 1))
    return -(pairs / pairs.sum(1, keepdim=True)).log2()[held_out[:-1], held_out[1:]].mean().item()


@gw.no_grad()
def sample(model, alphabet, length=400, start="\n\nA class "):
    text = [alphabet.index(c) for c in start]
    for _ in range(length):
        likely = (model(gw.tensor([text[-CONTEXT:]]))[0, -1] / 0.7).softmax(0)  # 0.7: the likely more likely
        text.append(gw.multinomial(likely, 1).item())
    return "".join(alphabet[i] for i in text)


def main():
    arguments = options(__doc__, "char_model.png", epochs=3, quick=1)
    verify(Softmax)
    gw.manual_seed(arguments.seed)
    text = "\n".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(text))
    number = {c: i for i, c in enumerate(alphabet)}
    numbers = gw.tensor([number[c] for c in text])
    text, held_out = numbers.tensor_split([len(numbers) * 9 // 10])

    model = CharModel(len(alphabet), width=64 if arguments.quick else 128)
    windows, drawn = Windows(text), arguments.epochs * len(text) // CONTEXT
    draws = RandomSampler(windows, replacement=True, num_samples=drawn // 4 if arguments.quick else drawn)
    loader = DataLoader(windows, BATCH, sampler=draws, drop_last=True)
    optimiser = gw.optim.AdamW(model.parameters(), lr=0.01)
    schedule = gw.optim.lr_scheduler.OneCycleLR(optimiser, 0.01, total_steps=len(loader))
    losses, tests = [], {}
    with progress(len(loader), "steps") as advance:
        for step, batch in enumerate(loader, 1):
            loss = bits(model, batch)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
            if step % 200 == 0 or step == len(loader):
                tests[step] = held_out_bits(model, held_out)
            advance(f"{losses[-1]:.2f} bits per character")
    bigram = bigram_bits(text, held_out, len(alphabet))

    means = {step: sum(losses[step - 20 : step]) / 20 for step in range(20, len(losses) + 1, 20)}
    curves = {"training, mean of 20 steps": means, "held out": tests,
              "bigram, held out": {1: bigram, len(losses): bigram}}  # fmt: skip
    title = f"Python's help, character by character: {tests[step]:.2f} bits"
    draw(arguments.out, title, f"step ({BATCH} x {CONTEXT} characters)", "bits per character",
         {name: (list(curve), list(curve.values())) for name, curve in curves.items()}, log=False)  # fmt: skip
    gw.save(model.state_dict(), arguments.state)
    print(f"loss curve: {arguments.out}, parameters: {arguments.state}")
    print("It makes up:", sample(model, alphabet), sep="\n")
    print(f"\nbits per held-out character: {tests[step]:.3f}, bigram: {bigram:.3f}")


if __name__ == "__main__":
    main()
