"""A small model by hand: the entries of its classes, and a machine that runs its code by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forwardbook.entries.record import Call, Entry, Line, Name, Own, Proof, Regime

ROWS = "{batch_size} * {seq_len}"
HIDDEN = f"{ROWS} * {{hidden_size}}"
INNER = f"{ROWS} * {{intermediate_size}}"
SQUARE = "{batch_size} * {num_heads} * {seq_len} * {seq_len}"
A, W = " * {a_dtype_bytes}", " * {w_dtype_bytes}"
WIDTHS = {"a_dtype_bytes": "{a_dtype_bytes}", "w_dtype_bytes": "{w_dtype_bytes}"}
PASSED = WIDTHS | {
    name: f"{{{name}}}" for name in ("batch_size", "seq_len", "num_heads", "head_dim", "hidden_size")
}
SIZES = {"batch_size": 2, "seq_len": 16, "num_heads": 4, "hidden_size": 32, "intermediate_size": 88}
MODEL_SIZES = SIZES | {"num_hidden_layers": 3, "vocab_size": 100, "a_dtype_bytes": 2, "w_dtype_bytes": 4}
EXACT = Proof(verdict="exact")


def entry(full: str, names: tuple[Name, ...], *regimes: Regime) -> Entry:
    """An entry of a class of some library."""
    return Entry(
        full_class_name=full,
        library=full.partition(".")[0],
        file=full.rpartition(".")[0].replace(".", "/") + ".py",
        line_start=1,
        line_end=40,
        source_hash="0" * 64,
        engine="1",
        names=names,
        regimes=regimes,
        verdict="exact",
    )


def regime(own: Own, calls: tuple[Call, ...] = (), name: str = "default", **fields: object) -> Regime:
    """A regime of the one signature of a class."""
    given = {"name": name, "signature": "default", "own": own, "calls": calls, "proof": EXACT, **fields}
    return Regime.model_validate(given)


def call(line: int, attribute: str, key: str, live: str, times: str = "1", **bindings: str) -> Call:
    """A call with the usual names passed on."""
    return Call(
        line=line,
        attribute=attribute,
        entry=key,
        signature="default",
        live=live,
        times=times,
        bindings=bindings,
    )


def linear(line: int, attribute: str, live: str, fan_in: str, fan_out: str) -> Call:
    """A call of a linear layer on all rows."""
    return call(
        line, attribute, "torch_Linear", live, **WIDTHS, rows=ROWS, in_features=fan_in, out_features=fan_out
    )


def _names(*names: str) -> tuple[Name, ...]:
    sources = {"batch_size": "forward", "seq_len": "forward", "rows": "forward", "elements": "forward"}
    widths = ("a_dtype_bytes", "w_dtype_bytes")
    return tuple(
        Name.model_validate({"name": one, "source": sources.get(one, "config")}) for one in (*names, *widths)
    )


LINEAR = entry(
    "torch.nn.modules.linear.Linear",
    _names("rows", "in_features", "out_features"),
    regime(
        Own(
            flops="2 * {rows} * {in_features} * {out_features}",
            reads="{rows} * {in_features}" + A + " + {in_features} * {out_features}" + W,
            writes="{rows} * {out_features}" + A,
            weights="{in_features} * {out_features}" + W,
            weights_read="{in_features} * {out_features}" + W,
            boundary="{rows} * ({in_features} + {out_features})" + A,
            states=("{rows} * {out_features}" + A,),
        )
    ),
)
SILU = entry(
    "torch.nn.modules.activation.SiLU",
    _names("elements"),
    regime(
        Own(
            pointwise_ops="{elements}",
            reads="{elements}" + A,
            writes="{elements}" + A,
            boundary="2 * {elements}" + A,
            states=("{elements}" + A,),
        )
    ),
)
MLP = entry(
    "transformers.models.toy.modeling_toy.ToyMLP",
    _names("batch_size", "seq_len", "hidden_size", "intermediate_size"),
    regime(
        Own(
            pointwise_ops=INNER,
            reads=f"2 * {INNER}{A}",
            writes=INNER + A,
            intermediates=f"4 * {INNER}{A}",
            boundary=f"2 * {HIDDEN}{A}",
            states=(f"3 * {INNER}{A}",),
        ),
        (
            linear(11, "gate_proj", "0", "{hidden_size}", "{intermediate_size}"),
            call(11, "act_fn", "torch_SiLU", INNER + A, **WIDTHS, elements=INNER),
            linear(12, "up_proj", INNER + A, "{hidden_size}", "{intermediate_size}"),
            linear(14, "down_proj", INNER + A, "{intermediate_size}", "{hidden_size}"),
        ),
        lines=(
            Line(line=11, end_line=11, code="gate = self.act_fn(self.gate_proj(x))"),
            Line(
                line=13,
                end_line=13,
                code="inner = gate * self.up_proj(x)",
                pointwise_ops=INNER,
                reads=f"2 * {INNER}{A}",
                writes=INNER + A,
                operations=("aten.mul",),
            ),
            Line(line=14, end_line=14, code="return self.down_proj(inner)"),
        ),
    ),
)


def _attention(name: str, condition: str, squares: int, states: int) -> Regime:
    """Scores, perhaps a mask, a softmax; `squares` are written, of which all but the first are read."""
    projections = tuple(
        linear(20 + place, f"{one}_proj", f"{place} * {HIDDEN}{A}", "{hidden_size}", "{hidden_size}")
        for place, one in enumerate("qkv")
    )
    out = linear(30, "o_proj", HIDDEN + A, "{hidden_size}", "{hidden_size}")
    own = Own(
        flops=f"4 * {SQUARE} * {{head_dim}}",
        pointwise_ops=f"{squares - 1} * {SQUARE}",
        reads=f"(3 * {HIDDEN} + {squares} * {SQUARE}){A}",
        writes=f"({squares} * {SQUARE} + {HIDDEN}){A}",
        intermediates=f"({squares} * {SQUARE} + 4 * {HIDDEN}){A}",
        boundary=f"2 * {HIDDEN}{A}",
        states=(f"({states} * {SQUARE} + 3 * {HIDDEN}){A}", f"({SQUARE} + 4 * {HIDDEN}){A}"),
    )
    definitions = {"hidden_size": "{num_heads} * {head_dim}"}
    return regime(own, (*projections, out), name, conditions=(condition,), definitions=definitions)


ATTENTION = entry(
    "transformers.models.toy.modeling_toy.ToyAttention",
    _names("batch_size", "seq_len", "num_heads", "head_dim", "hidden_size"),
    _attention("default", "{seq_len} >= 2", 3, 2),
    _attention("one token", "{seq_len} == 1", 2, 2),
)
LAYER = entry(
    "transformers.models.toy.modeling_toy.ToyDecoderLayer",
    _names("batch_size", "seq_len", "num_heads", "hidden_size", "intermediate_size"),
    regime(
        Own(
            pointwise_ops=f"10 * {HIDDEN}",
            reads=f"6 * {HIDDEN}{A} + 2 * {{hidden_size}}{W}",
            writes=f"4 * {HIDDEN}{A}",
            weights="2 * {hidden_size}" + W,
            weights_read="2 * {hidden_size}" + W,
            intermediates=f"5 * {HIDDEN}{A}",
            boundary=f"2 * {HIDDEN}{A}",
            states=(f"3 * {HIDDEN}{A}",),
        ),
        (
            call(
                43,
                "self_attn",
                "transformers_ToyAttention",
                HIDDEN + A,
                **{n: v for n, v in PASSED.items() if n != "head_dim"},
            ),
            call(
                47,
                "mlp",
                "transformers_ToyMLP",
                f"2 * {HIDDEN}{A}",
                **{n: v for n, v in PASSED.items() if n not in ("num_heads", "head_dim")},
                intermediate_size="{intermediate_size}",
            ),
        ),
    ),
)
MODEL = entry(
    "transformers.models.toy.modeling_toy.ToyModel",
    (
        *_names("batch_size", "seq_len", "num_heads", "hidden_size", "intermediate_size", "vocab_size"),
        Name(name="num_hidden_layers", source="count", default=2),
    ),
    regime(
        Own(
            pointwise_ops=f"4 * {HIDDEN}",
            reads=f"8 * {ROWS} + {HIDDEN}{W} + {HIDDEN}{A} + {{hidden_size}}{W}",
            writes=f"2 * {HIDDEN}{A}",
            weights="({vocab_size} + 1) * {hidden_size}" + W,
            weights_read=f"({ROWS} + 1) * {{hidden_size}}{W}",
            intermediates=f"({{num_hidden_layers}} + 1) * {HIDDEN}{A}",
            boundary=f"8 * {ROWS} + {HIDDEN}{A}",
            states=(f"2 * {HIDDEN}{A}",),
        ),
        (
            call(
                64,
                "layers.*",
                "transformers_ToyDecoderLayer",
                HIDDEN + A,
                "{num_hidden_layers}",
                **{n: v for n, v in PASSED.items() if n != "head_dim"},
                intermediate_size="{intermediate_size}",
            ),
        ),
    ),
)
TOY = {
    "torch_Linear": LINEAR,
    "torch_SiLU": SILU,
    "transformers_ToyMLP": MLP,
    "transformers_ToyAttention": ATTENTION,
    "transformers_ToyDecoderLayer": LAYER,
    "transformers_ToyModel": MODEL,
}


@dataclass
class Machine:
    """Runs the code of the toy model on numbers of elements, and keeps count as it goes."""

    a: int
    w: int
    flops: int = 0
    pointwise_ops: int = 0
    reads: int = 0
    writes: int = 0
    weights: int = 0
    weights_read: int = 0
    born: int = 0
    live: int = 0
    peak: int = 0

    def new(self, elements: int, reads: int, pointwise: int = 0) -> int:
        """An operation that reads bytes and writes a new tensor."""
        self.reads += reads
        self.writes += elements * self.a
        self.pointwise_ops += pointwise
        self.born += elements * self.a
        self.live += elements * self.a
        self.peak = max(self.peak, self.live)
        return elements

    def free(self, *tensors: int) -> None:
        """Tensors that nobody refers to any more."""
        self.live -= sum(tensors) * self.a

    def weight(self, elements: int, read: int | None = None) -> int:
        """A parameter, all of it read where it is not said how much; the bytes that are read."""
        self.weights += elements * self.w
        self.weights_read += (elements if read is None else read) * self.w
        return (elements if read is None else read) * self.w

    def linear(self, rows: int, fan_in: int, fan_out: int) -> int:
        self.flops += 2 * rows * fan_in * fan_out
        return self.new(rows * fan_out, rows * fan_in * self.a + self.weight(fan_in * fan_out))

    def norm(self, rows: int, hidden: int) -> int:
        return self.new(rows * hidden, rows * hidden * self.a + self.weight(hidden), 4 * rows * hidden)

    def mlp(self, rows: int, hidden: int, inner: int) -> int:
        gate = self.linear(rows, hidden, inner)
        active = self.new(gate, gate * self.a, gate)
        self.free(gate)
        up = self.linear(rows, hidden, inner)
        product = self.new(up, 2 * up * self.a, up)
        self.free(active, up)
        down = self.linear(rows, inner, hidden)
        self.free(product)
        return down

    def attention(self, batch: int, length: int, heads: int, size: int) -> int:
        hidden = heads * size
        query, key, value = (self.linear(batch * length, hidden, hidden) for _ in range(3))
        square = batch * heads * length * length
        self.flops += 2 * square * size
        scores = self.new(square, (query + key) * self.a)
        if length > 1:
            masked = self.new(square, square * self.a, square)
            self.free(scores)
            scores = masked
        weights = self.new(square, square * self.a, square)
        self.free(scores)
        self.flops += 2 * square * size
        context = self.new(batch * length * hidden, (square + value) * self.a)
        self.free(weights, query, key, value)
        out = self.linear(batch * length, hidden, hidden)
        self.free(context)
        return out

    def layer(self, batch: int, length: int, heads: int, size: int, inner: int) -> int:
        rows, hidden = batch * length, heads * size
        normal = self.norm(rows, hidden)
        attended = self.attention(batch, length, heads, size)
        self.free(normal)
        middle = self.new(attended, 2 * attended * self.a, attended)
        self.free(attended)
        normal = self.norm(rows, hidden)
        moved = self.mlp(rows, hidden, inner)
        self.free(normal)
        out = self.new(moved, 2 * moved * self.a, moved)
        self.free(middle, moved)
        return out

    def model(
        self, batch: int, length: int, heads: int, size: int, inner: int, layers: int, vocabulary: int
    ) -> int:
        rows, hidden = batch * length, heads * size
        state = self.new(rows * hidden, 8 * rows + self.weight(vocabulary * hidden, rows * hidden))
        for _ in range(layers):
            after = self.layer(batch, length, heads, size, inner)
            self.free(state)
            state = after
        out = self.norm(rows, hidden)
        self.free(state)
        return out

    def costs(self, result: int, inputs: int) -> dict[str, int]:
        """The eight quantities of what ran, by the bytes of its result and of its inputs."""
        return {
            "flops": self.flops,
            "pointwise_ops": self.pointwise_ops,
            "reads": self.reads,
            "writes": self.writes,
            "weights": self.weights,
            "boundary": inputs + result * self.a + self.weights_read,
            "intermediates": self.born - result * self.a,
            "peak": self.peak,
        }


def truth(sizes: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """What the machine counts of each class of the toy at sizes of the model, by key."""
    batch, length, heads = sizes["batch_size"], sizes["seq_len"], sizes["num_heads"]
    hidden, inner, layers = sizes["hidden_size"], sizes["intermediate_size"], sizes["num_hidden_layers"]
    size, rows = hidden // heads, batch * length
    machines = [Machine(sizes["a_dtype_bytes"], sizes["w_dtype_bytes"]) for _ in range(5)]
    taken = rows * hidden * machines[0].a
    linear, mlp, attention, layer, model = machines
    return {
        "torch_Linear": linear.costs(linear.linear(rows, hidden, inner), taken),
        "transformers_ToyMLP": mlp.costs(mlp.mlp(rows, hidden, inner), taken),
        "transformers_ToyAttention": attention.costs(attention.attention(batch, length, heads, size), taken),
        "transformers_ToyDecoderLayer": layer.costs(layer.layer(batch, length, heads, size, inner), taken),
        "transformers_ToyModel": model.costs(
            model.model(batch, length, heads, size, inner, layers, sizes["vocab_size"]), 8 * rows
        ),
    }
