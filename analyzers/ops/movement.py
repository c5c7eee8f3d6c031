"""Operations that move or make bytes without arithmetic, and what they read where that is not all."""

from __future__ import annotations

from forwardbook.analyzers.ops.operation import Operation, Size, Work, larger
from forwardbook.analyzers.ops.registry import aten, in_place, once, rule


@rule(
    *aten(
        "clone _to_copy _conj_copy copy _copy_from narrow_copy _reshape_alias_copy to_padded_tensor "
        "cat concat stack _stack _chunk_cat constant_pad_nd reflection_pad1d reflection_pad2d "
        "reflection_pad3d replication_pad1d replication_pad2d replication_pad3d _pad_circular roll "
        "flip rot90 repeat repeat_interleave one_hot complex block_diag diag_embed "
        "unfold_copy pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle "
        "contiguous _reshape_copy _pack_padded_sequence _pad_packed_sequence lift_fresh_copy lift "
        "_lazy_clone _pin_memory to_dense _to_dense to_mkldnn mkldnn_reorder_conv2d_weight "
        "mkldnn_reorder_conv3d_weight cartesian_prod combinations meshgrid split_copy "
        "split_with_sizes_copy unbind_copy expand_copy permute_copy slice_copy select_copy "
        "squeeze_copy unsqueeze_copy t_copy transpose_copy view_copy detach_copy alias_copy "
        "diagonal_copy as_strided_copy view_as_complex_copy view_as_real_copy"
    ),
    "prims.convert_element_type",
    reason="movement, 0 pointwise: the distinct elements of the inputs are read once and the outputs "
    "written once; converting a dtype and padding are movement; CUDA writes the results of pixel_unshuffle "
    "and reflection_pad2d in order, the CPU channels last where those of the input lie so",
)
def moved(op: Operation) -> Work:
    return Work()


@rule(
    *in_place("tril triu"),
    reason="movement, 0 pointwise: elements are kept or zeroed by their place, not their value; "
    "input read and output written whole",
)
def triangle(op: Operation) -> Work:
    return Work()


def as_large_as_input(op: Operation) -> tuple[Size, ...]:
    """The storage of an output that was made as large as the input, and then resized."""
    return (larger(op.inputs[0].numel, op.output.numel) * op.output.width,)


@rule(
    "aten.im2col",
    storages=as_large_as_input,
    reason="movement, 0 pointwise: the input is read and the output written once; the output is made as "
    "large as the input and keeps that storage where it is the smaller",
)
def unfolded(op: Operation) -> Work:
    return Work()


@rule(
    "aten.col2im",
    storages=as_large_as_input,
    reason="1 pointwise per input element: each is added to its place in the output, which is made as "
    "large as the input and keeps that storage where it is the smaller",
)
def folded(op: Operation) -> Work:
    return Work(pointwise_ops=op.inputs[0].numel)


@rule(
    "aten.copy_",
    reason="movement, 0 pointwise: reads src once (expanded dimensions once) and overwrites self, "
    "which is not read",
)
def copied_into(op: Operation) -> Work:
    return Work(reads=op.tensor("src").bytes)


@rule(
    *aten("fill_ zero_ fill zero fill_diagonal_"),
    reason="movement, 0 pointwise: every element is overwritten with one value, which is read where "
    "it is a tensor; self is not read",
)
def filled(op: Operation) -> Work:
    return Work(reads=once(op.optional("value")))


@rule(
    *aten(
        "full zeros ones eye arange range linspace logspace scalar_tensor tril_indices triu_indices "
        "full_like zeros_like ones_like new_full new_zeros new_ones bartlett_window blackman_window "
        "hamming_window hann_window kaiser_window _efficientzerotensor fft_fftfreq fft_rfftfreq"
    ),
    reason="a factory: the output is written once and nothing is read, also of the tensor whose "
    "shape it copies",
)
def made(op: Operation) -> Work:
    return Work(reads=0)


@rule(
    *aten(
        "empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize_ "
        "_resize_output_ resize_as_ set_ _new_zeros_with_same_feature_meta"
    ),
    reason="memory is set aside, none is touched",
)
def set_aside(op: Operation) -> Work:
    return Work(reads=0, writes=0)


@rule(
    *aten("t_ transpose_ unsqueeze_ squeeze_ as_strided_ swapaxes_ swapdims_ detach_ requires_grad_"),
    reason="a view in place: shape and strides of self change, no element moves",
)
def viewed_in_place(op: Operation) -> Work:
    return Work(reads=0, writes=0)


@rule(
    *aten("_local_scalar_dense item is_nonzero"),
    reason="one element is read and becomes a Python number",
)
def scalar_read(op: Operation) -> Work:
    return Work(reads=op.inputs[0].width, writes=0)


@rule(
    *aten(
        "_assert_async _functional_assert_async _assert_scalar _assert_tensor_metadata "
        "_functional_assert_scalar sym_constrain_range sym_constrain_range_for_size "
        "_linalg_check_errors _nested_tensor_from_mask_left_aligned"
    ),
    reason="a check: its input is read, nothing is written that the result holds",
)
def checked(op: Operation) -> Work:
    return Work(writes=0)


@rule(
    *aten(
        "is_same_size sym_size sym_stride sym_numel sym_storage_offset size stride numel dim "
        "is_contiguous _has_compatible_shallow_copy_type _fused_sdp_choice _nnpack_available "
        "_use_cudnn_ctc_loss _use_miopen_ctc_loss _version is_pinned record_stream"
    ),
    "prim.device",
    "profiler._record_function_enter_new",
    "profiler._record_function_exit",
    reason="a question about shape, layout or device: no element is touched",
)
def asked(op: Operation) -> Work:
    return Work(reads=0, writes=0)
