"""Interpolation on grids: products and sums per output element by how many neighbours the mode blends."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Work
from forwardbook.analyzers.ops.registry import NoRule, aten, rule

NEIGHBOURS = {
    "nearest": 1,
    "nearest-exact": 1,
    "linear": 2,
    "bilinear": 4,
    "trilinear": 8,
    "bicubic": 16,
    "area": 1,
}


def blended(op: Operation, mode: str) -> Work:
    """n products and n - 1 sums for n neighbours; a single neighbour is copied."""
    neighbours = NEIGHBOURS[mode]
    each = 2 * neighbours - 1 if neighbours > 1 else 0
    return Work(pointwise_ops=each * op.output.numel)


@rule(
    *aten(
        "upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d "
        "_upsample_nearest_exact2d _upsample_nearest_exact3d"
    ),
    reason="movement, 0 pointwise: every output element copies one input element",
)
def nearest(op: Operation) -> Work:
    return blended(op, "nearest")


@rule(
    "aten.upsample_linear1d",
    reason="3 per output element: 2 neighbours weighted (2) and added (1)",
)
def linear(op: Operation) -> Work:
    return blended(op, "linear")


@rule(
    *aten("upsample_bilinear2d _upsample_bilinear2d_aa"),
    reason="7 per output element: 4 neighbours weighted (4) and added (3); antialiasing widens the "
    "filter by the ratio of sizes, which is left out",
)
def bilinear(op: Operation) -> Work:
    return blended(op, "bilinear")


@rule(
    "aten.upsample_trilinear3d",
    reason="15 per output element: 8 neighbours weighted (8) and added (7)",
)
def trilinear(op: Operation) -> Work:
    return blended(op, "trilinear")


@rule(
    *aten("upsample_bicubic2d _upsample_bicubic2d_aa _upsample_lanczos2d_aa"),
    reason="31 per output element: 16 neighbours weighted (16) and added (15); antialiasing, and the "
    "wider Lanczos window, are left out",
)
def bicubic(op: Operation) -> Work:
    return blended(op, "bicubic")


@rule(
    "forwardbook.interpolate",
    reason="by its mode: nearest 0, linear 3, bilinear 7, trilinear 15, bicubic 31 per output "
    "element (n neighbours weighted, n - 1 additions); area 1 per input element, as adaptive "
    "average pooling",
)
def interpolate(op: Operation) -> Work:
    mode = str(op.arguments.get("mode", ""))
    if mode not in NEIGHBOURS:
        raise NoRule(op.name, f"a mode {mode!r} that is none of {', '.join(NEIGHBOURS)}")
    return Work(pointwise_ops=op.inputs[0].numel) if mode == "area" else blended(op, mode)


GRID_MODES = ("bilinear", "nearest", "bicubic")  # the numbers 0, 1, 2 of torch's interpolation_mode


@rule(
    *aten("grid_sampler_2d grid_sampler_3d cudnn_grid_sampler grid_sampler"),
    reason="per output element as interpolation (bilinear 7, in three dimensions 15, nearest 0, "
    "bicubic 31), and 2 per grid coordinate, scaled and shifted to a place in the input",
)
def grid_sample(op: Operation) -> Work:
    mode = GRID_MODES[op.integer("interpolation_mode", 0)]
    mode = "trilinear" if mode == "bilinear" and len(op.inputs[0].shape) == 5 else mode
    grid = op.tensor("grid")
    return Work(pointwise_ops=blended(op, mode).pointwise_ops + 2 * grid.numel)


@rule(
    *aten("affine_grid_generator cudnn_affine_grid_generator"),
    reason="2 flops per multiply-accumulate: each grid point is the 2 x 3 (3 x 4) matrix times a "
    "homogeneous point of 3 (4)",
)
def affine_grid(op: Operation) -> Work:
    theta = op.tensor("theta")
    return Work(flops=2 * op.output.numel * theta.shape[-1])
