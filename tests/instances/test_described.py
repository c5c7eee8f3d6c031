"""What docstrings state of inputs is read: shapes, whole numbers, masks, rows of a table, objects."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.pretrained.described import described, fields_of, gathered, stated_in


@dataclass
class Atoms:
    """What is known of atoms.

    Args:
        position: `(batch_size, num_atoms, 3)` where each is.
        element: `(batch_size, num_atoms, num_elements)` one-hot number of each.
        valid_mask: `(batch_size, num_atoms)` ones, and zeros where nothing is.
    """

    position: Tensor
    element: Tensor
    valid_mask: Tensor


class Folds(nn.Module):
    """Takes atoms, and bonds that nothing but the docstring describes."""

    def forward(self, bonds: Tensor, atoms: Atoms, input_ids: Tensor) -> Tensor:
        """Folds.

        Args:
            bonds (`torch.FloatTensor` of shape `(batch_size, num_atoms, num_atoms)`):
                How strong the bond of two is.
            atoms ([`Atoms`]):
                What is known of them.
        """
        return bonds + atoms.position.sum() + input_ids.sum()


class Undescribed(nn.Module):
    """Says nothing."""

    def forward(self, atoms: Tensor) -> Tensor:
        """Adds one."""
        return atoms + 1


NEEDED = ("bonds", "atoms", "input_ids")
USUAL = {"input_ids": "integers(7, batch_size, seq_len, low=1)"}


@pytest.mark.parametrize(
    ("line", "expression"),
    [
        ("x (`torch.FloatTensor` of shape `(batch_size, sequence_length)`):", "floats(batch_size, seq_len)"),
        ("structure (torch.LongTensor of shape `(batch_size)`):", "full(1, batch_size)"),
        ("residue (`Tensor` of shape `(batch_size, n)`): Index in a chain.", "full(1, batch_size, n)"),
        ("charge: `(batch_size, n)` charge of each atom.", "floats(batch_size, n)"),
    ],
)
def test_a_stated_shape_becomes_an_input(line: str, expression: str) -> None:
    """Floats where floats are said, whole numbers where an index, a type or a count is."""
    (one,) = stated_in(line).values()

    assert expression == one.expression(coded=False, flags=False)


def test_a_row_of_a_table_comes_as_the_row_and_as_its_number() -> None:
    """What is documented as one-hot is often made of numbers by forward() itself."""
    one = fields_of(Atoms)["element"]

    assert "floats(batch_size, num_atoms, num_elements)" == one.expression(coded=False, flags=False)
    assert "full(1, batch_size, num_atoms)" == one.expression(coded=True, flags=False)


def test_an_object_of_tensors_is_given_part_by_part() -> None:
    """Parameters of an object have its name before theirs; those with a usual input keep it."""
    plan = described(Folds(), NEEDED, USUAL)[-1]

    assert {
        "bonds": "floats(batch_size, num_atoms, num_atoms)",
        "atoms.position": "floats(batch_size, num_atoms, 3)",
        "atoms.element": "full(1, batch_size, num_atoms)",
        "atoms.valid_mask": "mask(batch_size, num_atoms)",
        "input_ids": "integers(7, batch_size, seq_len, low=1)",
    } == plan


def test_parts_become_the_object_that_forward_takes() -> None:
    """The class is that of the annotation."""
    atoms = Atoms(torch.ones(1), torch.ones(2), torch.ones(3))
    parts = {f"atoms.{name}": value for name, value in vars(atoms).items()}

    given = gathered(_Evaluated(), {**parts, "input_ids": 7})

    assert 7 == given["input_ids"]
    assert vars(atoms) == vars(given["atoms"])


def test_what_no_docstring_states_is_not_made_up() -> None:
    """No plan where a parameter has neither a stated shape nor a usual input."""
    assert [] == described(Undescribed(), ("atoms",), {})


class _Evaluated:
    """A class whose annotations are classes, as they are in files that do not postpone them."""

    def forward(self, atoms: object, input_ids: object) -> None:
        """Nothing."""

    forward.__annotations__["atoms"] = Atoms


Folds.forward.__annotations__["atoms"] = Atoms
