"""A model that follows objects through a film in; out calls on a frame, over what a session remembers.

Such a forward() takes neither images nor points but a session: it holds the film, what was pointed at, and
what earlier frames left behind. Its class is told by its annotation, and by the methods that fill it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from forwardbook.analyzers.instances.pretrained.inputs import field_size
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Sizes

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedModel

FILLED_BY = ("obj_id_to_idx", "add_point_inputs")
"""What a class offers whose instances are told which object to follow."""
FIRST, NEXT = 0, 1


class Session(Protocol):
    """What a film, and the objects followed in it, are kept in."""

    obj_with_new_inputs: list[int]

    def obj_id_to_idx(self, obj_id: int) -> int:
        """The place of an object, new where it was not known."""
        ...

    def add_point_inputs(self, obj_idx: int, frame_idx: int, inputs: dict[str, torch.Tensor]) -> None:
        """Points of one frame that lie in an object, or do not."""
        ...


@dataclass(frozen=True)
class Followed:
    """A call on a frame of a film of two: the first is pointed at, the next is seen over its memory."""

    parameter: str
    session: Callable[..., Session]
    frame: int

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        """The session and the frame; the model itself leaves behind what it remembers of frames before."""
        import torch

        config = cast("PreTrainedModel", model).config
        channels, rows, columns = (
            cast(int, field_size(name, sizes, config))
            for name in ("num_channels", "image_height", "image_width")
        )
        film = maker.floats((2, channels, rows, columns))
        points = sizes("num_points", 2, "points that are pointed at", "forward")
        session = self.session(
            film,
            video_height=rows,
            video_width=columns,
            dtype=film.dtype,
            **dict.fromkeys(
                ("inference_device", "inference_state_device", "video_storage_device"), film.device
            ),
        )
        place = session.obj_id_to_idx(1)
        given = {
            "point_coords": maker.floats((1, 1, points, 2)),
            "point_labels": maker.full((1, 1, points), 1).to(torch.int32),
        }
        session.add_point_inputs(place, FIRST, given)
        session.obj_with_new_inputs = [1]
        for frame in range(self.frame):
            model(**{self.parameter: session, "frame_idx": frame})
        return (), {self.parameter: session, "frame_idx": self.frame}


def followed(model: PreTrainedModel) -> list[tuple[str, Followed]]:
    """Scenarios: the next frame, then the first one; none where forward() takes no such session."""
    for one in inspect.signature(type(model).forward).parameters.values():
        kind: object = one.annotation
        if inspect.isclass(kind) and all(hasattr(kind, name) for name in FILLED_BY):
            session = cast("Callable[..., Session]", kind)
            return [
                ("default", Followed(one.name, session, NEXT)),
                ("first frame", Followed(one.name, session, FIRST)),
            ]
    return []
