"""Fourier transforms: one operation per element by convention, as the formula language has no logarithm."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Work, larger
from forwardbook.analyzers.ops.registry import aten, rule


@rule(
    *aten("_fft_c2c _fft_r2c _fft_c2r"),
    reason="1 per element by convention, of the longer of input and output: a lower bound of the 5 n "
    "log2 n real operations usually quoted, whose logarithm the formula language does not "
    "have; no flops, as it is no matrix product",
)
def transform(op: Operation) -> Work:
    return Work(pointwise_ops=larger(op.inputs[0].numel, op.output.numel))
