"""Losses, each with its input and its target."""

from __future__ import annotations

from forwardbook.analyzers.instances.notation import Row

FULL = "floats(batch_size, features)"
CLASSES = "floats(batch_size, num_classes)"
LABEL = "integers(num_classes, batch_size)"
ALIKE = (
    "BCELoss BCEWithLogitsLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss PoissonNLLLoss "
    "SmoothL1Loss SoftMarginLoss"
)

ROWS = (
    *(Row(f"{name}()({FULL}, {FULL})") for name in ALIKE.split()),
    *(
        Row(f"{name}(reduction='none')({FULL}, {FULL})", scenario="not reduced")
        for name in ("L1Loss", "MSELoss")
    ),
    Row(f"KLDivLoss(reduction='batchmean')({FULL}, {FULL})", scenario="batch mean"),
    Row(f"CrossEntropyLoss()({CLASSES}, {LABEL})", said={"target": "class indices"}),
    Row(
        f"CrossEntropyLoss(label_smoothing=0.1)({CLASSES}, {LABEL})",
        scenario="label smoothing",
        said={"target": "class indices"},
    ),
    Row(
        f"CrossEntropyLoss()({CLASSES}, {CLASSES})",
        scenario="class probabilities",
        said={"target": "class probabilities"},
    ),
    Row(f"NLLLoss()({CLASSES}, {LABEL})"),
    Row(
        "NLLLoss2d()(floats(batch_size, num_classes, height, width), "
        "integers(num_classes, batch_size, height, width))"
    ),
    Row(f"LinearCrossEntropyLoss(in_features, num_classes)(floats(batch_size, in_features), {LABEL})"),
    Row(f"MultiMarginLoss()({CLASSES}, {LABEL})"),
    Row(
        "MultiLabelMarginLoss()(floats(batch_size, num_labels), integers(num_labels, batch_size, num_labels))"
    ),
    Row("MultiLabelSoftMarginLoss()(floats(batch_size, num_labels), floats(batch_size, num_labels))"),
    Row(
        f"GaussianNLLLoss()({FULL}, {FULL}, ones(batch_size, features))",
        needs_values="checks that no variance is negative",
    ),
    Row(f"CosineEmbeddingLoss()({FULL}, {FULL}, ones(batch_size))"),
    Row("MarginRankingLoss()(floats(batch_size), floats(batch_size), ones(batch_size))"),
    Row(f"TripletMarginLoss()({FULL}, {FULL}, {FULL})"),
    Row(f"TripletMarginWithDistanceLoss()({FULL}, {FULL}, {FULL})"),
    Row(
        "CTCLoss()(floats(seq_len, batch_size, num_classes), "
        "integers(num_classes, batch_size, target_len, low=1), "
        "full(seq_len, batch_size), full(target_len, batch_size))",
        where=("{seq_len} > 2 * {target_len}",),
        hints={"seq_len": 17},
        needs_values="the lengths are values of tensors",
    ),
    Row(
        "AdaptiveLogSoftmaxWithLoss(in_features, n_classes, [cutoffs_0, cutoffs_1])"
        "(floats(batch_size, in_features), integers(n_classes, batch_size))",
        where=(
            "{in_features} >= 16",  # the second tail has in_features // 4 ** 2 features
            "{cutoffs_0} < {cutoffs_1}",
            "{cutoffs_1} < {n_classes}",
            "{batch_size} > {cutoffs_1}",  # labels count up from 0: every cluster is met
        ),
        hints={"in_features": 37, "batch_size": 31},
        needs_values="the labels decide which rows each cluster takes",
    ),
)
