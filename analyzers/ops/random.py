"""Random numbers: one operation per number drawn, whatever the generator does for it."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Work
from forwardbook.analyzers.ops.registry import aten, once, rule


@rule(
    *aten("bernoulli_ uniform_ normal_ random_ exponential_ geometric_ cauchy_ log_normal_"),
    reason="1 per element drawn; self is overwritten and not read, a tensor of probabilities is",
)
def drawn_in_place(op: Operation) -> Work:
    return Work(pointwise_ops=op.output.numel, reads=once(op.optional("p")))


@rule(
    *aten("rand randn randint randperm rand_like randn_like randint_like"),
    reason="1 per element drawn; a factory: nothing is read",
)
def drawn(op: Operation) -> Work:
    return Work(pointwise_ops=op.output.numel, reads=0)


@rule(
    *aten(
        "bernoulli poisson binomial normal _standard_gamma _sample_dirichlet normal_functional "
        "uniform exponential"
    ),
    reason="1 per element drawn; the tensors of parameters are read",
)
def drawn_with(op: Operation) -> Work:
    return Work(pointwise_ops=op.output.numel)


@rule("aten.multinomial", reason="1 per weight (they are summed) and 1 per number drawn")
def multinomial(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel + op.output.numel)


@rule(
    *aten("native_dropout _fused_dropout"),
    reason="3 per element: draw, compare or mask, scale; in eval mode dropout is no operation at all",
)
def dropout(op: Operation) -> Work:
    return Work(pointwise_ops=3 * op.inputs[0].numel)


@rule(
    *aten("rrelu rrelu_ rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_functional"),
    reason="1 per output element, the activation; in training 1 more for the slope that is drawn "
    "into noise; noise is not read",
)
def random_leaky_relu(op: Operation) -> Work:
    data = op.tensor("self")
    if op.flag("training"):
        return Work(pointwise_ops=2 * op.output.numel, reads=data.bytes)
    return Work(pointwise_ops=op.output.numel, reads=data.bytes, writes=op.output.bytes)
