"""Answers how a tensor lies in memory from its sizes and strides, as C++ asks symbolic ones."""

from __future__ import annotations

from collections.abc import Callable

Layout = Callable[[list[int], list[int]], bool]


def contiguous(sizes: list[int], strides: list[int]) -> bool:
    """Whether the elements lie in order without gaps; dimensions of size 1 may have any stride."""
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def dense(sizes: list[int], strides: list[int]) -> bool:
    """Whether the elements fill their span without overlap, in whichever order of dimensions."""
    order = sorted(range(len(sizes)), key=lambda i: -strides[i])
    return contiguous([sizes[i] for i in order], [strides[i] for i in order])


def channels_last(order: tuple[int, ...]) -> Layout:
    """The question whether a tensor lies in `order` of its dimensions."""

    def answer(sizes: list[int], strides: list[int]) -> bool:
        return len(sizes) == len(order) and contiguous([sizes[i] for i in order], [strides[i] for i in order])

    return answer


def channels_last_strides(order: tuple[int, ...]) -> Layout:
    """The question whether the strides rise in `order` of dimensions, the last of which is the batch.

    So does torch suggest a memory format, also of tensors with gaps; where one sample's strides are those of
    a tensor in order, it is none.
    """

    def answer(sizes: list[int], strides: list[int]) -> bool:
        if len(sizes) != len(order) or strides[1] == 0:
            return False
        least = 0
        for place in (*order[:0:-1], 0):
            if sizes[place] == 0 or strides[place] < least or (place == 0 and least == strides[1]):
                return False
            least = strides[place] * max(sizes[place], 1)
        return True

    return answer


_CHANNELS_LAST = {"2d": (0, 2, 3, 1), "3d": (0, 2, 3, 4, 1)}

QUESTIONS: dict[str, Layout] = {  # by the name of the method that torch calls
    "is_contiguous": contiguous,
    "is_non_overlapping_and_dense": dense,
    "is_non_overlapping_and_dense_indicator": dense,
    **{f"is_channels_last_contiguous_{n}": channels_last(order) for n, order in _CHANNELS_LAST.items()},
    **{f"is_channels_last_strides_{n}": channels_last_strides(order) for n, order in _CHANNELS_LAST.items()},
}
