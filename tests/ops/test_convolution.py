"""Convolutions against counts by hand: stride, dilation, groups, depthwise, transposed."""

from collections.abc import Callable

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def convolve(
    operation: MakeOp,
    data: Operand,
    weight: Operand,
    bias: Operand | None,
    out: tuple[Size, ...],
    **more: object,
) -> Operation:
    """aten.convolution as the dispatcher sees it."""
    return operation("aten.convolution", out, input=data, weight=weight, bias=bias, **more)


def test_conv2d_sums_kernel_times_channels(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """2 images, 3 -> 4 channels, 5 x 7 outputs, 3 x 3 kernel: 280 sums of 27 products, 280 biases."""

    def build(b: Size, i: Size, o: Size, h: Size, w: Size, k: Size) -> Operation:
        data, weight = tensor(b, i, h, w), tensor(o, i, k, k)
        return convolve(operation, data, weight, tensor(o), (b, o, h, w), transposed=False, groups=1)

    cost = tally(build, b=2, i=3, o=4, h=5, w=7, k=3)
    assert cost == Cost(2 * 280 * 27, 280, 4 * (210 + 108 + 4), 4 * 280)


def test_groups_divide_the_channels_each_output_sees(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """12 -> 8 channels in 4 groups with stride 2: the weight is (8, 3, 3, 3), 72 outputs of 27 products."""

    def build(o: Size, each: Size, g: Size, h: Size, k: Size) -> Operation:
        data, weight = tensor(1, each * g, 2 * h, 2 * h), tensor(o, each, k, k)
        return convolve(
            operation, data, weight, None, (1, o, h, h), stride=[2, 2], groups=g, transposed=False
        )

    assert tally(build, o=8, each=3, g=4, h=3, k=3).flops == 2 * 72 * 27


def test_depthwise_has_one_channel_per_output(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The causal convolution of a state space model: kernel 4, one channel each."""

    def build(b: Size, c: Size, s: Size, k: Size) -> Operation:
        data, weight = tensor(b, c, s + k - 1), tensor(c, 1, k)
        return convolve(operation, data, weight, tensor(c), (b, c, s), groups=c, transposed=False)

    cost = tally(build, b=2, c=6, s=10, k=4)
    assert (cost.flops, cost.pointwise_ops) == (2 * 120 * 4, 120)


def test_transposed_spreads_every_input(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """4 -> 6 channels in 2 groups, 3 x 3 inputs: 36 inputs, each into 3 channels at 4 positions."""

    def build(i: Size, each: Size, h: Size, k: Size) -> Operation:
        data, weight = tensor(1, i, h, h), tensor(i, each, k, k)
        out = (1, 2 * each, 2 * h, 2 * h)
        return convolve(operation, data, weight, None, out, transposed=True, groups=2)

    assert tally(build, i=4, each=3, h=3, k=2).flops == 2 * 36 * 3 * 4


def test_device_variants_agree_with_the_plain_one(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """mkldnn and cudnn names count as aten.convolution does."""
    names = ("convolution", "mkldnn_convolution", "cudnn_convolution", "_slow_conv2d_forward", "conv2d")

    def build(name: str) -> Operation:
        return operation(f"aten.{name}", (1, 4, 5, 5), self=tensor(1, 3, 7, 7), weight=tensor(4, 3, 3, 3))

    assert {tally(lambda name=name: build(name)).flops for name in names} == {2 * 100 * 27}


def test_fused_relu_and_time_first(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The relu is one more per output; conv_tbc keeps its kernel first."""

    def fused(h: Size) -> Operation:
        data = {"self": tensor(1, 3, h, h), "weight": tensor(4, 3, 1, 1), "bias": tensor(4)}
        return operation("aten.cudnn_convolution_relu", (1, 4, h, h), **data)

    def time_first(t: Size) -> Operation:
        data = {"self": tensor(t + 2, 2, 3), "weight": tensor(3, 3, 5), "bias": tensor(5)}
        return operation("aten.conv_tbc", (t, 2, 5), **data)

    assert tally(fused, h=5).pointwise_ops == 200
    assert tally(time_first, t=7).flops == 2 * 70 * 9
