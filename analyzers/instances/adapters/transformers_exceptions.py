"""Classes of transformers that no call on sizes alone can run, as data: each with its reason."""

from __future__ import annotations

from typing import Final

_MATCHED: Final = (
    "it pairs predictions with targets by scipy.optimize.linear_sum_assignment, which runs on the host over "
    "values: no operation of torch, and how long it takes no size tells"
)
# File of the library, and what precedes HungarianMatcher and the loss in its names.
_MATCHERS: Final = (
    ("loss.loss_for_object_detection", "", "ImageLoss"),
    ("loss.loss_deformable_detr", "DeformableDetr", "ImageLoss"),
    ("loss.loss_grounding_dino", "GroundingDino", "ImageLoss"),
    ("loss.loss_lw_detr", "LwDetr", "ImageLoss"),
    ("loss.loss_rf_detr", "RfDetr", "ImageLoss"),
    ("loss.loss_rt_detr", "RTDetr", "Loss"),
    ("models.eomt.modeling_eomt", "Eomt", "Loss"),
    ("models.eomt_dinov3.modeling_eomt_dinov3", "EomtDinov3", "Loss"),
    ("models.mask2former.modeling_mask2former", "Mask2Former", "Loss"),
    ("models.maskformer.modeling_maskformer", "MaskFormer", "Loss"),
    ("models.oneformer.modeling_oneformer", "OneFormer", "Loss"),
    ("models.videomt.modeling_videomt", "Videomt", "Loss"),
)
_DERIVED: Final = ("transformers.loss.loss_d_fine.DFineLoss", "transformers.loss.loss_deimv2.Deimv2Loss")
"""Losses that call a matcher of another file."""


def exceptions() -> dict[str, str]:
    """Full names, and why nothing is derived for the class."""
    found = dict.fromkeys(_DERIVED, _MATCHED)
    for home, prefix, loss in _MATCHERS:
        found |= dict.fromkeys(
            (f"transformers.{home}.{prefix}{name}" for name in ("HungarianMatcher", loss)), _MATCHED
        )
    return found
