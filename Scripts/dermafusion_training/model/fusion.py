"""The metadata fusion head."""

import torch
from torch import nn
from torch.nn import functional as F

from dermafusion_training.model.config import SEXES, SITES


class FusionHead(nn.Module):
    """Joins pooled image features [N, C] with metadata vectors [N, 4] (see data/metadata.py) to logits [N, classes]."""

    def __init__(self, pooled_size, classes, settings, dropout=0.0):
        super().__init__()
        epsilon = settings["layer_norm_epsilon"]
        metadata_size, hidden_size = settings["metadata_size"], settings["hidden_size"]
        encoded_size = 2 + settings["sex_embedding_size"] + settings["site_embedding_size"]
        self.sex_embedding = nn.Embedding(len(SEXES), settings["sex_embedding_size"])
        self.site_embedding = nn.Embedding(len(SITES), settings["site_embedding_size"])
        self.metadata_dense = nn.Linear(encoded_size, metadata_size)
        self.metadata_norm = nn.LayerNorm(metadata_size, eps=epsilon)
        self.hidden = nn.Linear(pooled_size + metadata_size, hidden_size)
        self.hidden_norm = nn.LayerNorm(hidden_size, eps=epsilon)
        self.classifier = nn.Linear(hidden_size, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pooled, metadata):
        sex = self.sex_embedding(metadata[:, 2].long())
        site = self.site_embedding(metadata[:, 3].long())
        encoded = torch.cat([metadata[:, :2], sex, site], dim=1)
        encoded = F.silu(self.metadata_norm(self.metadata_dense(encoded)))
        joined = torch.cat([self.dropout(pooled), encoded], dim=1)
        hidden = F.silu(self.hidden_norm(self.hidden(joined)))
        return self.classifier(self.dropout(hidden))
