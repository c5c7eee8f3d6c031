"""A config that the constructor copies and edits: what counts is the copy."""
# group: 11 configs copied and edited
# sizes: T=tokens:10 D=hidden_size:12
# init: Config(D)
# input x: T, D

import copy

from torch import Tensor, nn


class Config:
    def __init__(self, hidden_size: int) -> None:
        self.hidden_size = hidden_size
        self.is_decoder = False


class Side(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.is_decoder = config.is_decoder
        self.up = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x).tanh() if self.is_decoder else self.up(x)


class Both(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        decoder = copy.deepcopy(config)
        decoder.is_decoder = True
        decoder.hidden_size = 2 * config.hidden_size
        self.encoder, self.decoder = Side(config), Side(decoder)

    def forward(self, x: Tensor) -> Tensor:
        x = self.encoder(x)  # flops 2*T*D*D; reads w*D*D + a*T*D; writes a*T*D
        x = x.repeat(1, 2)  # reads a*T*D; writes 2*a*T*D
        # flops 8*T*D*D; ops 2*T*D; reads 4*w*D*D + 4*a*T*D; writes 4*a*T*D
        return self.decoder(x)
