"""Classify sequences by which of two tokens occurs more often: embedding, positions, TransformerEncoder, padding mask."""

import math

import numpy as np
import torch
from torch import nn, Tensor
from torch.utils.data import DataLoader, TensorDataset


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 64):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.pe[:, : x.size(1)]
        return self.dropout(x)


class TransformerClassifier(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int, dropout: float = 0.0):
        super().__init__()
        self.embedding = nn.Embedding(ntoken, d_model, padding_idx=0)
        self.pos_encoder = PositionalEncoding(d_model, dropout)
        encoder_layers = nn.TransformerEncoderLayer(d_model, nhead, d_hid, dropout, batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(encoder_layers, nlayers, enable_nested_tensor=False)
        self.d_model = d_model
        self.decoder = nn.Linear(d_model, 2)

    def forward(self, src: Tensor) -> Tensor:
        mask = src == 0
        x = self.pos_encoder(self.embedding(src) * math.sqrt(self.d_model))
        x = self.transformer_encoder(x, src_key_padding_mask=mask)
        x = x.masked_fill(mask.unsqueeze(-1), 0.0).sum(1) / (~mask).sum(1, keepdim=True)
        return self.decoder(x)


def make_data(n=256, length=12):
    rng = np.random.RandomState(0)
    tokens = rng.randint(1, 8, (n, length))
    for row, size in zip(tokens, rng.randint(6, length + 1, n)):
        row[size:] = 0
    labels = (tokens == 3).sum(1) > (tokens == 5).sum(1)
    return torch.from_numpy(tokens).long(), torch.from_numpy(labels).long()


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"Using {device} device")
    tokens, labels = make_data()
    loader = DataLoader(TensorDataset(tokens, labels), batch_size=64)

    model = TransformerClassifier(ntoken=8, d_model=16, nhead=2, d_hid=32, nlayers=2).to(device)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() > 1:
                p.copy_(torch.sin(torch.arange(p.numel()) * 2.3).view_as(p) / math.sqrt(p.shape[-1]))
            elif name.endswith("bias"):
                nn.init.zeros_(p)
    print("state:", len(model.state_dict()), "last:", list(model.state_dict())[-1])

    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.01)
    for epoch in range(6):
        model.train()
        total_loss = 0.0
        for src, target in loader:
            src, target = src.to(device), target.to(device)
            loss = criterion(model(src), target)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            total_loss += loss.item()
        model.eval()
        with torch.inference_mode():
            accuracy = (model(tokens.to(device)).argmax(-1) == labels.to(device)).float().mean()
        print(f"| epoch {epoch:3d} | loss {total_loss / len(loader):.3f} | accuracy {accuracy:.2f}")


if __name__ == "__main__":
    main()
