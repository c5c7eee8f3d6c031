"""The modules of transformers, without classes of the catalogue, that most families of models import."""

SHARED = (
    "transformers.modeling_utils",
    "transformers.modeling_layers",
    "transformers.modeling_outputs",
    "transformers.modeling_rope_utils",
    "transformers.masking_utils",
    "transformers.pytorch_utils",
    "transformers.processing_utils",
    "transformers.backbone_utils",
    "transformers.generation.utils",
    "transformers.loss.loss_utils",
    "transformers.utils.output_capturing",
    "transformers.models.auto.modeling_auto",
)
