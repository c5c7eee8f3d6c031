"""Lists of kernels, counters on the roofline, and tiles: held against figures worked out by hand."""

import re
from pathlib import Path

import pytest
import yaml

from forwardbook.profiling.contractions import ShapeUnknown, contraction
from forwardbook.profiling.counters import work
from forwardbook.profiling.kernel_analysis import AnalysedKernel, analyse_folder, as_csv, as_page
from forwardbook.profiling.kernel_list import as_yaml, compute_name, longest
from forwardbook.profiling.peaks import devices_named
from forwardbook.profiling.readers.anything import kernels_of, read_report
from forwardbook.profiling.readers.kernels import KernelRow, Launch, Metric
from forwardbook.profiling.shares import share
from forwardbook.profiling.tiles import Tile, explain, explain_attention, inner_of, padded, tile_of

PROFILES = Path(__file__).parents[1] / "profiles"


@pytest.fixture(scope="module")
def analysed() -> dict[str, AnalysedKernel]:
    """Real kernels of an RTX 5090 by number."""
    return {one.label[-4:]: one for one in analyse_folder(PROFILES / "ncu").kernels}


@pytest.mark.parametrize(
    ("number", "intensity"), [("0003", 380.6), ("0005", 716.1), ("0009", 96.5), ("0016", 717.6)]
)
def test_intensity(analysed: dict[str, AnalysedKernel], number: str, intensity: float) -> None:
    """Operations for each byte follow the units of the bytes, whichever they are in."""
    assert intensity == round(analysed[number].work.intensity or 0, 1)


def test_operations_nobody_counted_are_unknown(analysed: dict[str, AnalysedKernel]) -> None:
    """A kernel that used no tensor core, when nothing else was counted, has an unknown number."""
    one = analysed["0001"].work

    assert (None, None, 2_330_000, "unknown") == (
        one.flops,
        one.intensity,
        one.bytes,
        one.bound(devices_named("rtx-5090")[0]),
    )


def test_bound_follows_the_peak_of_the_format(analysed: dict[str, AnalysedKernel]) -> None:
    """The ridge of bf16 on that card is at 117 flops for each byte."""
    device = devices_named("NVIDIA GeForce RTX 5090")[0]

    assert ["compute", "bandwidth"] == [analysed[n].work.bound(device) for n in ("0003", "0009")]
    assert "unknown" == analysed["0003"].work.bound(None)


@pytest.mark.parametrize(
    ("number", "tiles"),
    [
        ("0003", "608 * 2 * 32 * 32 * 1,024"),
        ("0005", "332 * 2 * 256 * 128 * 576"),
        ("0016", "304 * 2 * 128 * 256 * 2,304"),
    ],
)
def test_counters_are_whole_tiles(analysed: dict[str, AnalysedKernel], number: str, tiles: str) -> None:
    """Operations of tensor cores are blocks times tiles times a whole length of the sum."""
    assert tiles == analysed[number].tiles()


def test_pages_of_a_capture_are_one_launch(analysed: dict[str, AnalysedKernel]) -> None:
    """The four files of a kernel make one row."""
    assert ["0001", "0003", "0005", "0009", "0016"] == sorted(analysed)


def test_vector_operations_count_both() -> None:
    """A fused multiply-add is two operations, on pairs of halves four."""
    stem = "smsp__sass_thread_inst_executed_op_"
    counts = {"ffma": 10, "fadd": 3, "hfma": 5, "hmul": 1}
    metrics = {f"{stem}{n}_pred_on.sum": Metric("", c, "inst") for n, c in counts.items()}
    found = work(Launch(0, "k", metrics))

    assert ({"fp32": 23, "fp16": 22}, 45) == (dict(found.formats), found.flops)


def test_page_and_table_say_unknown(analysed: dict[str, AnalysedKernel]) -> None:
    """Without a device no share of a peak is claimed; what is unknown is empty in CSV."""
    found = analyse_folder(PROFILES / "ncu")

    assert "No device was named" in as_page(found, None)
    assert ",,2330000," in as_csv(found.kernels, None).splitlines()[1]


def test_tiles_from_names() -> None:
    """Names of CUTLASS and of cuBLAS say their tiles; others say nothing."""
    names = (
        "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_bias_NNT",
        "void Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x256_32x3_tn_align8>(Params)",
        "sm80_xmma_gemm_f32f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1",
        "void at::native::vectorized_elementwise_kernel<4>",
    )

    assert [Tile(64, 8, 64), Tile(128, 256, 32), Tile(64, 256, 8), None] == [tile_of(name) for name in names]


def test_padding_explains_a_counter() -> None:
    """A product of 1000 x 1000 in tiles of 128 x 256 is counted as one of 1024 x 1024."""
    name = "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x256_32x3_tn_align8"
    counter = 2 * 1024 * 1024 * 512
    found = explain(counter, (8, 4, 1), name, 1000, 1000, 512)

    assert found is not None
    assert (counter, 2 * 1000 * 1000 * 512, 512) == (found.counter, found.formula, found.inner)
    assert counter == padded(1000, 1000, 512, Tile(128, 256, 32))
    assert explain(counter, (8, 4, 1), name, 1000, 1100, 512) is None
    assert inner_of(counter + 2, (8, 4, 1), Tile(128, 256)) is None


def test_a_mask_leaves_out_tiles_of_attention() -> None:
    """Of 256 queries on 256 keys a causal mask leaves 6 of 8 tiles: what an H200 counted for 48 heads."""
    found = explain_attention(603_979_776, 48, 256, 256, 128, "sdpa_sm90_flash_fprop_knob_7_64x128x64")

    assert found is not None
    assert (6, 8, Tile(64, 128)) == (found.tiles, found.of, found.tile)
    assert "(of 8 tiles a mask leaves 6)" in found.text
    assert explain_attention(603_979_777, 48, 256, 256, 128, "flash") is None


def test_a_page_names_kernels_and_passes_over_what_lies_beside_its_counters(tmp_path: Path) -> None:
    """The plan of a capture is no report, and nothing more is read of one whose counters are in a page."""
    page = (PROFILES / "ncu_h200" / "decode" / "kernels.raw.csv").read_text()
    beside = {"kernels.raw.csv": page, "kernels.ncu-rep": "binary", "ncu.cmd.txt": "ncu -o kernels"}
    for name, text in beside.items():
        (tmp_path / name).write_text(text)
    found = analyse_folder(tmp_path)

    assert (45, ()) == (len(found.kernels), found.refused)
    assert "| `kernels#4` | `nvjet_sm90_tst_64x8_64x16_4x1_v_bz_bias_NNT` | bf16 |" in as_page(found, None)


def test_small_shares_are_not_0() -> None:
    """Below one percent two digits are said."""
    shares = (0.3047, 0.0001675, 0.0, None)

    assert ["30.5%", "0.017%", "0.0%", "not known"] == [share(one) for one in shares]


def test_list_sums_grids() -> None:
    """A kernel that ran in many grids is one entry with the time of all; shares add up to one."""
    rows = kernels_of(read_report(PROFILES / "nsys" / "h100.nsys2022.4_gpukernsum.csv"))
    found = longest(rows, 1000)

    assert 41 == len(found)
    assert 31_121_662 == found[0].row.total_ns
    assert pytest.approx(1.0) == sum(one.share or 0 for one in found)
    assert sum(len(one.grids) for one in found) <= 90


def test_patterns_match_their_kernel_alone() -> None:
    """The pattern of each kernel matches its name and no other of the list."""
    rows = kernels_of(read_report(PROFILES / "nsys" / "llmperfopt_examples_cuda_gpu_kern_sum.csv"))
    text = as_yaml(longest(rows, 30), "x", 1)
    kernels = yaml.safe_load(text)["kernels"]
    names = {row.name for row in rows}

    assert [[one["name"]] for one in kernels] == [
        [name for name in names if re.search(one["regex"], name)] for one in kernels
    ]


def test_names_as_the_other_tool_writes_them() -> None:
    """A name of Nsight Systems loses namespaces and types of constants, as in Nsight Compute."""
    name = (
        "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, (bool)0, (int)7, const __nv_bfloat16>"
    )

    assert "enable_if<!T7, void>::type kernel<int, 0, 7, const __nv_bfloat16>" == compute_name(name)


def test_kernels_without_times_come_last() -> None:
    """A kernel whose time is unknown has no share, and does not lead the list."""
    found = longest([KernelRow("a", 1, None), KernelRow("b", 1, 5)], 2)

    assert [("b", 1.0), ("a", None)] == [(one.row.name, one.share) for one in found]


@pytest.mark.parametrize(
    ("operator", "shapes", "concrete", "flops"),
    [
        ("aten::mm", [(3, 5), (5, 7)], (), 210),
        ("aten::addmm", [(7,), (3, 5), (5, 7)], (), 210),
        ("aten::bmm", [(2, 3, 5), (2, 5, 7)], (), 420),
        ("aten::baddbmm", [(2, 3, 7), (2, 3, 5), (2, 5, 7)], (), 420),
        ("aten::mv", [(3, 5), (5,)], (), 30),
        ("aten::dot", [(5,), (5,)], (), 10),
        (
            "aten::_scaled_dot_product_flash_attention",
            [(2, 4, 8, 16), (2, 2, 9, 16), (2, 2, 9, 16)],
            (),
            36864,
        ),
        ("aten::_flash_attention_forward", [(2, 8, 4, 16), (2, 9, 2, 16), (2, 9, 2, 16)], (), 36864),
        (
            "aten::convolution",
            [(1, 3, 32, 32), (8, 3, 4, 4), (8,)],
            ("", "", "", "[4, 4]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"),
            2 * 8 * 8 * 8 * 3 * 16,
        ),
    ],
)
def test_flops_of_operators(
    operator: str, shapes: list[tuple[int, ...]], concrete: tuple[str, ...], flops: int
) -> None:
    """The flops of an operator follow from the shapes of its inputs; heads may be shared."""
    found = contraction(operator, shapes, concrete)

    assert found is not None
    assert flops == found.flops


@pytest.mark.parametrize(
    ("operator", "shapes"),
    [("aten::mm", []), ("aten::mm", [(3, 5), (4, 7)]), ("aten::convolution", [(1, 3, 8, 8), (8, 3, 4, 4)])],
)
def test_sizes_that_are_not_said(operator: str, shapes: list[tuple[int, ...]]) -> None:
    """A product whose sizes are missing or do not fit is an error, never 0."""
    with pytest.raises(ShapeUnknown):
        contraction(operator, shapes)


def test_other_operators_are_no_products() -> None:
    """Adding, softmax and the plain attention, which is made of products, count nothing themselves."""
    names = ("aten::add", "aten::softmax", "aten::_scaled_dot_product_attention_math", "aten::linear")

    assert [None] * 4 == [contraction(name, [(3, 5), (5, 7)]) for name in names]
