"""Losses: operations per input element, and one more where the elements are then summed or averaged."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Size, Work, product
from forwardbook.analyzers.ops.registry import aten, rule


def reduced(op: Operation, each: int, data: Size) -> Work:
    """`each` per element, and the sum of the reduction (1, torch's default, is the mean; 0 is none)."""
    summed = 1 if op.integer("reduction", 1) else 0
    return Work(pointwise_ops=(each + summed) * data)


@rule("aten.mse_loss", reason="2 per element: subtract, square; 1 more where reduced")
def squared_error(op: Operation) -> Work:
    return reduced(op, 2, op.inputs[0].numel)


@rule("aten.l1_loss", reason="2 per element: subtract, absolute value; 1 more where reduced")
def absolute_error(op: Operation) -> Work:
    return reduced(op, 2, op.inputs[0].numel)


@rule(
    *aten("smooth_l1_loss huber_loss"),
    reason="5 per element: subtract, absolute value, compare with the threshold, and a product and a "
    "sum of the branch taken; 1 more where reduced",
)
def huber(op: Operation) -> Work:
    return reduced(op, 5, op.inputs[0].numel)


@rule(
    "aten.soft_margin_loss",
    reason="3 per element: multiply by the target, exponential, logarithm of one plus it; 1 more "
    "where reduced",
)
def soft_margin(op: Operation) -> Work:
    return reduced(op, 3, op.inputs[0].numel)


@rule(
    "aten.binary_cross_entropy",
    reason="7 per element: two logarithms, two subtractions from 1, two products, one sum; weight 1; "
    "1 more where reduced",
)
def binary_cross_entropy(op: Operation) -> Work:
    weighted = 0 if op.optional("weight") is None else 1
    return reduced(op, 7 + weighted, op.inputs[0].numel)


@rule(
    "aten.binary_cross_entropy_with_logits",
    reason="4 per element: the logarithm of the sigmoid, subtract the target from 1, multiply, "
    "subtract; weights 1 each; 1 more where reduced",
)
def binary_cross_entropy_with_logits(op: Operation) -> Work:
    weights = sum(op.optional(name) is not None for name in ("weight", "pos_weight"))
    return reduced(op, 4 + weights, op.inputs[0].numel)


@rule(
    *aten("nll_loss_forward nll_loss2d_forward nll_loss nll_loss2d nll_loss_nd"),
    reason="1 per target, the negation (2 with class weights); 1 more where reduced; reads the "
    "targets and, for each, one probability and its weight, not the whole input; the total "
    "weight it also writes is counted",
)
def negative_log_likelihood(op: Operation) -> Work:
    data, target, weight = op.inputs[0], op.tensor("target"), op.optional("weight")
    work = reduced(op, 1 if weight is None else 2, target.numel)
    weights: Size = 0 if weight is None else target.numel * weight.width
    reads = target.bytes + target.numel * data.width + weights
    return Work(pointwise_ops=work.pointwise_ops, reads=reads)


@rule(
    "aten.kl_div",
    reason="3 per element: logarithm of the target, subtract, multiply; 1 more where reduced",
)
def divergence(op: Operation) -> Work:
    return reduced(op, 3, op.inputs[0].numel)


@rule(
    "aten.multi_margin_loss",
    reason="4 per input element: subtract from the target's score, add the margin, compare with "
    "zero, add; 1 more for the power where p is not 1 is left out; class weight 1",
)
def multi_margin(op: Operation) -> Work:
    weighted = 0 if op.optional("weight") is None else 1
    return Work(pointwise_ops=(4 + weighted) * op.inputs[0].numel)


@rule(
    *aten("multilabel_margin_loss_forward multilabel_margin_loss"),
    reason="4 per pair of classes in a sample: subtract, add the margin, compare with zero, add; "
    "every class may be a target, so this bounds it",
)
def multilabel_margin(op: Operation) -> Work:
    data = op.inputs[0]
    return Work(pointwise_ops=4 * data.numel * data.shape[-1])


@rule(
    "torch_nn._linear_cross_entropy_batch_chunked",
    "torch_nn._linear_cross_entropy_batch_chunked_no_reduction",
    reason="2 * N * C * F for the logits, and as much again for each gradient that the call asks to "
    "be prepared (of the input, of the weight); pointwise per logit: maximum, subtract, "
    "exponential, sum (4), the bias 1, the softmax 1 where a gradient needs it; the few "
    "operations per sample are left out",
)
def linear_cross_entropy(op: Operation) -> Work:
    data, weight = op.tensor("input"), op.tensor("linear_weight")
    logits = product(*data.shape[:-1]) * weight.shape[0]
    gradients = [op.flag(f"compute_{of}_grad") for of in ("input", "linear_weight", "linear_bias")]
    biased = 0 if op.optional("linear_bias") is None else 1
    return Work(
        flops=2 * (1 + sum(gradients[:2])) * logits * data.shape[-1],
        pointwise_ops=(4 + biased + any(gradients)) * logits,
    )


@rule(
    *aten("_ctc_loss _cudnn_ctc_loss miopen_ctc_loss"),
    reason="8 per time step and state of the alignment of every sample: 3 predecessors are added in "
    "the logarithm (maximum 2, subtract and exponential folded as 3 with the sum, logarithm "
    "1), and the symbol's score 1, its selection 1; the states are what the kernel writes (2 "
    "* target length + 1), so the count is taken from log_alpha; reads and writes as its "
    "tensors",
)
def connectionist(op: Operation) -> Work:
    return Work(pointwise_ops=8 * op.outputs[1].numel)
