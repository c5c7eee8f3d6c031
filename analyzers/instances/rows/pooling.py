"""Pooling, unpooling, padding and resampling."""

from __future__ import annotations

from forwardbook.analyzers.instances.notation import Row
from forwardbook.analyzers.instances.rows.convolutions import SPATIAL, axis, each, fits

PADS = {
    1: "(padding_left, padding_right)",
    2: "(padding_left, padding_right, padding_top, padding_bottom)",
    3: "(padding_left, padding_right, padding_top, padding_bottom, padding_front, padding_back)",
}
ENDS = {"length": "left right", "width": "left right", "height": "top bottom", "depth": "front back"}


def _image(d: int) -> str:
    return f"floats(batch_size, channels, {', '.join(SPATIAL[d])})"


def _half(d: int) -> tuple[str, ...]:
    """Padding of at most half the window, which pooling demands."""
    return tuple(f"2 * {axis('padding', d, i)} <= {axis('kernel_size', d, i)}" for i in range(d))


def _pools(d: int) -> tuple[Row, ...]:
    window = f"{each('kernel_size', d)}, stride={each('stride', d)}"
    padded = f"{window}, padding={each('padding', d)}"
    places = " * ".join(_unpooled(d, i) for i in range(d))
    indices = f"integers({places}, batch_size, channels, {', '.join(SPATIAL[d])})"
    return (
        Row(f"AvgPool{d}d({padded})({_image(d)})", (*_half(d), *fits(d, dilated=False))),
        Row(f"MaxPool{d}d({padded}, dilation={each('dilation', d)})({_image(d)})", (*_half(d), *fits(d))),
        Row(f"LPPool{d}d(2, {window})({_image(d)})", fits(d, dilated=False, padded=False)),
        Row(f"AdaptiveAvgPool{d}d({each('output_size', d)})({_image(d)})"),
        Row(f"AdaptiveMaxPool{d}d({each('output_size', d)})({_image(d)})"),
        Row(
            f"MaxUnpool{d}d({padded})({_image(d)}, {indices})",
            (
                *_half(d),
                *(f"{axis('kernel_size', d, i)} >= {axis('stride', d, i)}" for i in range(d)),
                *_roomy(d),
            ),
        ),
    )


def _unpooled(d: int, i: int) -> str:
    """Extent that MaxUnpool gives back along a dimension."""
    kernel, stride, padding = (axis(a, d, i).strip("{}") for a in ("kernel_size", "stride", "padding"))
    return f"(({SPATIAL[d][i]} - 1) * {stride} - 2 * {padding} + {kernel})"


def _roomy(d: int) -> tuple[str, ...]:
    """Every pooled element has a place of its own."""
    return tuple(
        f"({{{e}}} - 1) * ({axis('stride', d, i)} - 1) + {axis('kernel_size', d, i)} > "
        f"2 * {axis('padding', d, i)}"
        for i, e in enumerate(SPATIAL[d])
    )


def _fractional(d: int) -> Row:
    room = tuple(
        f"{axis('output_size', d, i)} + {axis('kernel_size', d, i)} - 1 < {{{e}}}"
        for i, e in enumerate(SPATIAL[d])
    )
    return Row(
        f"FractionalMaxPool{d}d({each('kernel_size', d)}, output_size={each('output_size', d)})({_image(d)})",
        room,
    )


def _pads(d: int) -> tuple[Row, ...]:
    less = tuple(f"{{padding_{end}}} < {{{extent}}}" for extent in SPATIAL[d] for end in ENDS[extent].split())
    return (
        *(
            Row(f"{kind}Pad{d}d({PADS[d]})({_image(d)})", less)
            for kind in ("Circular", "Reflection", "Replication")
        ),
        Row(f"ZeroPad{d}d({PADS[d]})({_image(d)})"),
        Row(f"ConstantPad{d}d({PADS[d]}, 3.5)({_image(d)})"),
    )


IMAGE = _image(2)

ROWS = (
    *(row for d in SPATIAL for row in (*_pools(d), *_pads(d))),
    _fractional(2),
    _fractional(3),
    Row(
        f"PixelShuffle(upscale_factor)({IMAGE})",
        ("{channels} % ({upscale_factor} * {upscale_factor}) == 0",),
        hints={"channels": 27},
    ),
    Row(
        f"PixelUnshuffle(downscale_factor)({IMAGE})",
        ("{height} % {downscale_factor} == 0", "{width} % {downscale_factor} == 0"),
        hints={"height": 15, "width": 21},
    ),
    Row(f"Upsample(size=(size_0, size_1))({IMAGE})"),
    Row(f"Upsample(size=(size_0, size_1), mode='bilinear')({IMAGE})", scenario="bilinear"),
    Row(f"Upsample(size=(size_0, size_1), mode='bicubic')({IMAGE})", scenario="bicubic"),
    Row(f"Upsample(scale_factor=2)({IMAGE})", scenario="twice as large"),
    Row(f"UpsamplingBilinear2d(size=(size_0, size_1))({IMAGE})"),
    Row(f"UpsamplingNearest2d(size=(size_0, size_1))({IMAGE})"),
)
