"""Two configs within one, whose fields have the same name and different values."""
# group: 11 nested text/vision
# sizes: B=batch_size:3 S=seq_len:5 P=patches:7 A=text_config.hidden_size:12 V=vision_config.hidden_size:20
# init: Config(Part(A), Part(V))
# input pixels: B, P, V
# input text: B, S, A

import torch
from torch import Tensor, nn


class Part:
    def __init__(self, hidden_size: int) -> None:
        self.hidden_size = hidden_size


class Config:
    def __init__(self, text_config: Part, vision_config: Part) -> None:
        self.text_config, self.vision_config = text_config, vision_config


class Projector(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.proj = nn.Linear(config.vision_config.hidden_size, config.text_config.hidden_size, bias=False)

    def forward(self, pixels: Tensor, text: Tensor) -> Tensor:
        image = self.proj(pixels)  # flops 2*B*P*V*A; reads a*B*P*V + w*V*A; writes a*B*P*A
        return torch.cat((image, text), dim=1)  # reads a*B*(P + S)*A; writes a*B*(P + S)*A
