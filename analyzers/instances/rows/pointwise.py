"""Activations, dropout, softmax, shape changes and distances."""

from __future__ import annotations

from forwardbook.analyzers.instances.notation import Row

ELEMENTWISE = (
    "AlphaDropout CELU Dropout ELU FeatureAlphaDropout GELU Hardshrink Hardsigmoid Hardswish Hardtanh "
    "Identity LeakyReLU LogSigmoid Mish RReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh "
    "Tanhshrink"
)

ROWS = (
    *(Row(f"{name}()(floats(batch_size, features))") for name in ELEMENTWISE.split()),
    *(Row(f"{name}(dim=-1)(floats(batch_size, features))") for name in ("LogSoftmax", "Softmax", "Softmin")),
    Row("GELU(approximate='tanh')(floats(batch_size, features))", scenario="tanh approximation"),
    Row("ReLU(inplace=True)(floats(batch_size, features))", scenario="in place"),
    Row("SiLU(inplace=True)(floats(batch_size, features))", scenario="in place"),
    Row("Threshold(0.1, 20.0)(floats(batch_size, features))"),
    Row("GLU()(floats(batch_size, features))", where=("{features} % 2 == 0",)),
    Row("PReLU(num_parameters)(floats(batch_size, num_parameters, height, width))"),
    Row("PReLU()(floats(batch_size, features))", scenario="one slope"),
    Row("Softmax2d()(floats(batch_size, channels, height, width))"),
    Row("Dropout1d()(floats(batch_size, channels, length))"),
    Row("Dropout2d()(floats(batch_size, channels, height, width))"),
    Row("Dropout3d()(floats(batch_size, channels, depth, height, width))"),
    Row("Flatten()(floats(batch_size, channels, height, width))"),
    Row(
        "Unflatten(1, (unflattened_size_0, unflattened_size_1))"
        "(floats(batch_size, unflattened_size_0 * unflattened_size_1))"
    ),
    Row("CosineSimilarity()(floats(batch_size, features), floats(batch_size, features))"),
    Row("PairwiseDistance()(floats(batch_size, features), floats(batch_size, features))"),
    Row(
        "ChannelShuffle(groups)(floats(batch_size, channels, height, width))",
        where=("{channels} % {groups} == 0",),
    ),
)
