"""Convolutions, transposed convolutions, Fold and Unfold, in one, two and three dimensions."""

from __future__ import annotations

from forwardbook.analyzers.instances.notation import Row

SPATIAL = {1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}
GROUPED = ("{in_channels} % {groups} == 0", "{out_channels} % {groups} == 0")


def each(argument: str, d: int) -> str:
    """A constructor argument with a size per spatial dimension: `(stride_0, stride_1)`, or `stride`."""
    return argument if d == 1 else "(" + ", ".join(f"{argument}_{i}" for i in range(d)) + ")"


def axis(argument: str, d: int, i: int) -> str:
    """The formula name of that argument's size along one dimension: `{stride_1}`."""
    return f"{{{argument}}}" if d == 1 else f"{{{argument}_{i}}}"


def fits(d: int, dilated: bool = True, padded: bool = True) -> tuple[str, ...]:
    """The window fits into the padded input along every dimension."""
    conditions = []
    for i, extent in enumerate(SPATIAL[d]):
        padding = f" + 2 * {axis('padding', d, i)}" if padded else ""
        spread = f"{axis('dilation', d, i)} * " if dilated else ""
        conditions.append(f"{{{extent}}}{padding} > {spread}({axis('kernel_size', d, i)} - 1)")
    return tuple(conditions)


def _window(d: int) -> str:
    return f"{each('kernel_size', d)}, stride={each('stride', d)}, padding={each('padding', d)}"


def _image(d: int, channels: str = "in_channels") -> str:
    return f"floats(batch_size, {channels}, {', '.join(SPATIAL[d])})"


def _convolutions(d: int) -> tuple[Row, ...]:
    rest = f"{_window(d)}, dilation={each('dilation', d)}, groups=groups"
    where = (*GROUPED, *fits(d))
    return (
        Row(f"Conv{d}d(in_channels, out_channels, {rest})({_image(d)})", where),
        Row(f"LazyConv{d}d(out_channels, {rest})({_image(d)})", where),
        *_same(d),
        Row(
            f"Conv{d}d(in_channels, out_channels, {each('kernel_size', d)}, padding={each('padding', d)}, "
            f"padding_mode='circular')({_image(d)})",
            where=(*fits(d, dilated=False), *_wraps_once(d)),
            scenario="padding circular",
        ),
    )


def _wraps_once(d: int) -> tuple[str, ...]:
    """Padding takes no more from the other end than there is."""
    return tuple(f"{axis('padding', d, i)} <= {{{extent}}}" for i, extent in enumerate(SPATIAL[d]))


def _same(d: int) -> tuple[Row, ...]:
    """As much padding as keeps the extent: where it is odd along a dimension, the input is padded first."""
    text = (
        f"Conv{d}d(in_channels, out_channels, {each('kernel_size', d)}, padding='same', "
        f"dilation={each('dilation', d)}, groups=groups)({_image(d)})"
    )
    odd = [f"{axis('dilation', d, i)} * ({axis('kernel_size', d, i)} - 1) % 2" for i in range(d)]
    even = tuple(f"{one} == 0" for one in odd)
    kernels = {"kernel_size" if d == 1 else f"kernel_size_{i}": 3 + 2 * i for i in range(d)}
    dilations = {"dilation" if d == 1 else f"dilation_{i}": 3 for i in range(d)}
    return (
        Row(text, (*GROUPED, *even), hints=kernels, scenario="padding same"),
        Row(
            text,
            (*GROUPED, f"{' + '.join(odd)} > 0"),
            hints={**{name: size + 1 for name, size in kernels.items()}, **dilations},
            scenario="padding same, odd",
        ),
    )


def _transposed(d: int) -> tuple[Row, ...]:
    ends = f"output_padding={each('output_padding', d)}"
    rest = f"{_window(d)}, {ends}, groups=groups, dilation={each('dilation', d)}"
    smaller = tuple(f"{axis('output_padding', d, i)} < {axis('stride', d, i)}" for i in range(d))
    where = (*GROUPED, *smaller, *_grows(d))
    return (
        Row(f"ConvTranspose{d}d(in_channels, out_channels, {rest})({_image(d)})", where),
        Row(f"LazyConvTranspose{d}d(out_channels, {rest})({_image(d)})", where),
    )


def _grows(d: int) -> tuple[str, ...]:
    """The padding that is cut off leaves something."""
    return tuple(f"{{{e}}} > 2 * {axis('padding', d, i)}" for i, e in enumerate(SPATIAL[d]))


def _windows(i: int, extent: str) -> str:
    """How many windows fit along a dimension of Fold's output."""
    reach = f"dilation_{i} * (kernel_size_{i} - 1) + 1"
    return f"(({extent} + 2 * padding_{i} - ({reach})) // stride_{i} + 1)"


ROWS = (
    *(row for d in SPATIAL for row in (*_convolutions(d), *_transposed(d))),
    Row(
        f"Unfold({each('kernel_size', 2)}, dilation={each('dilation', 2)}, padding={each('padding', 2)}, "
        f"stride={each('stride', 2)})({_image(2, 'channels')})",
        fits(2),
    ),
    Row(
        f"Fold({each('output_size', 2)}, {each('kernel_size', 2)}, dilation={each('dilation', 2)}, "
        f"padding={each('padding', 2)}, stride={each('stride', 2)})"
        f"(floats(batch_size, channels * kernel_size_0 * kernel_size_1, "
        f"{_windows(0, 'output_size_0')} * {_windows(1, 'output_size_1')}))",
        where=tuple(
            f"{{output_size_{i}}} + 2 * {{padding_{i}}} > {{dilation_{i}}} * ({{kernel_size_{i}}} - 1)"
            for i in range(2)
        ),
    ),
)
