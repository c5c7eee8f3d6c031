"""Classes that models hold and torch.nn does not export: activations and small layers."""

from __future__ import annotations

from forwardbook.analyzers.instances.notation import Row

ACTIVATIONS = (
    "AccurateGELUActivation FastGELUActivation GELUActivation GELUTanh LaplaceActivation LinearActivation "
    "MishActivation NewGELUActivation QuickGELUActivation ReLUSquaredActivation SiLUActivation "
    "SqrtSoftplusActivation"
)

ROWS = (
    *(
        Row(f"{name}()(floats(batch_size, features))", home="transformers.activations")
        for name in ACTIVATIONS.split()
    ),
    Row("ClippedGELUActivation(-10, 10)(floats(batch_size, features))", home="transformers.activations"),
    Row(
        "Conv1D(out_features, in_features)(floats(batch_size, seq_len, in_features))",
        home="transformers.pytorch_utils",
    ),
    Row(
        "NonDynamicallyQuantizableLinear(in_features, out_features)(floats(batch_size, in_features))",
        home="torch.nn.modules.linear",
    ),
)
