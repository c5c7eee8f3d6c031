"""A class name in; out its recipes, from whichever source knows the class."""

from __future__ import annotations

from forwardbook.analyzers.instances.pretrained.library import INSTALLED, Library
from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe


def recipes_for(
    full_class_name: str, options: InstanceOptions | None = None, library: Library = INSTALLED
) -> list[Recipe]:
    """How to build and call a class; NoRecipe says what is missing and how to give it.

    `library` gives the classes: those installed, or others made from the same source."""
    options = options or InstanceOptions()
    if not options.inputs:  # whoever gives inputs wants the class alone
        if full_class_name.startswith(
            ("torch.nn.", "transformers.activations.", "transformers.pytorch_utils.")
        ):
            from forwardbook.analyzers.instances.torch_nn import torch_recipes

            return torch_recipes(full_class_name.rpartition(".")[2], options, library.row_class)
        if full_class_name.startswith("transformers."):
            from forwardbook.analyzers.instances.pretrained.recipes import transformers_recipes

            return transformers_recipes(full_class_name, options, library)
    from forwardbook.analyzers.instances.user import user_recipes

    return user_recipes(full_class_name, options, library)
