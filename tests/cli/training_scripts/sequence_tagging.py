"""Tag each word of a sentence with an LSTM."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(1)

training_data = [
    ("the cat sat on the old mat".split(), ["DET", "NN", "V", "P", "DET", "ADJ", "NN"]),
    ("a small dog chased the cat".split(), ["DET", "ADJ", "NN", "V", "DET", "NN"]),
    ("everybody read that book".split(), ["NN", "V", "DET", "NN"]),
]
word_to_ix = {}
for sentence, _ in training_data:
    for word in sentence:
        word_to_ix.setdefault(word, len(word_to_ix))
tag_to_ix = {"DET": 0, "NN": 1, "V": 2, "P": 3, "ADJ": 4}
ix_to_tag = {i: t for t, i in tag_to_ix.items()}


def prepare_sequence(seq, to_ix):
    return torch.tensor([to_ix[w] for w in seq], dtype=torch.long)


class LSTMTagger(nn.Module):
    def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, num_layers=2, bidirectional=True)
        self.hidden2tag = nn.Linear(2 * hidden_dim, tagset_size)

    def forward(self, sentence):
        embeds = self.word_embeddings(sentence)
        lstm_out, _ = self.lstm(embeds.view(len(sentence), 1, -1))
        tag_space = self.hidden2tag(lstm_out.view(len(sentence), -1))
        return F.log_softmax(tag_space, dim=1)


model = LSTMTagger(6, 5, len(word_to_ix), len(tag_to_ix))
for name, param in model.named_parameters():  # the same start everywhere
    nn.init.constant_(param, 0.0)
    with torch.no_grad():
        param += 0.5 * torch.sin(torch.arange(param.numel()) * 1.7).view_as(param)
    print(name, tuple(param.shape))

loss_function = nn.NLLLoss()
optimizer = optim.SGD(model.parameters(), lr=0.3, momentum=0.5)
for epoch in range(60):
    total = 0.0
    for sentence, tags in training_data:
        model.zero_grad()
        tag_scores = model(prepare_sequence(sentence, word_to_ix))
        loss = loss_function(tag_scores, prepare_sequence(tags, tag_to_ix))
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {total:.4f}")

with torch.no_grad():
    for sentence, tags in training_data:
        scores = model(prepare_sequence(sentence, word_to_ix))
        print(" ".join(ix_to_tag[i] for i in scores.argmax(1).tolist()), "|", " ".join(tags))
