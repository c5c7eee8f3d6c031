"""A small project as text, and how the tests read what was written about it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

Explain = Callable[..., "subprocess.CompletedProcess[str]"]

SHAPES = '''\
"""Shapes and their areas."""

from __future__ import annotations

import math

UNIT = 1.0  # metres


class Shape:
    """Something flat."""

    def area(self) -> float:
        """How much it covers."""
        raise NotImplementedError(f"area of {type(self).__name__}")


class Circle(Shape):
    """A round shape."""

    def __init__(self, radius: float) -> None:
        if radius < 0:
            raise ValueError("the radius is negative")
        self.radius = radius

    def area(self) -> float:
        return math.pi * self.radius**2


def total(shapes: list[Shape], *, scale: float = UNIT) -> float:
    """The area of all shapes together."""
    return sum(covered(each) for each in shapes) * scale


def covered(shape: Shape) -> float:
    """The area of one shape."""
    return shape.area()
'''
REPORT = '''\
"""Reports about shapes."""

from .shapes import Circle, total


def report(radii: list[float]) -> str:
    """One line about circles of these radii."""
    return f"{total([Circle(radius) for radius in radii]):.1f}"


if __name__ == "__main__":
    print(report([1.0, 2.0]))
'''
INIT = '"""Geometry for the tests."""\n\nfrom .report import report\nfrom .shapes import Circle, total\n'
PROJECT = '[project]\nname = "geometry"\nversion = "1.2"\nrequires-python = ">=3.10"\n'
TESTS = """\
from geometry import total


def test_nothing():
    assert total([]) == 0
"""
FILES = {
    "pyproject.toml": PROJECT,
    "geometry/__init__.py": INIT,
    "geometry/shapes.py": SHAPES,
    "geometry/report.py": REPORT,
    "tests/test_shapes.py": TESTS,
}
KERNEL = """\
#include <torch/extension.h>

#define LAUNCH(k, n, x) k<<<(n + 255) / 256, 256, 0, stream>>>(x, n)

__global__ void fill_kernel(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0f;
}

void fill(torch::Tensor x) {
  fill_kernel<<<x.numel() / 256 + 1, 256>>>(x.data_ptr<float>(), x.numel());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("fill", &fill, "Fill");
}
"""
CALLER = '''\
"""Filling on a device."""

from torch.utils.cpp_extension import load

extension = load(name="fill_ext", sources=["fill.cu"])


def fill_ones(x):
    """Fill a tensor with ones."""
    return extension.fill(x)
'''
NATIVE = {
    "pyproject.toml": PROJECT,
    "native/__init__.py": "",
    "native/fill.cu": KERNEL,
    "native/caller.py": CALLER,
}


def write_files(top: Path, files: dict[str, str]) -> Path:
    """Write texts by path below a folder."""
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    return top


def pages_in(folder: Path) -> dict[str, str]:
    """The text of every page in a folder, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.md"))}
