"""Where each name of the op table is shown: in the module, on Tensor, in nn.functional.

A name stands in the module, and on Tensor too when its rows are called on a tensor, unless it is
listed here. torch has the same names in the same places; a test compares them.
"""

from ._C import Tensor, _functions

#: On Tensor only. So are the in-place forms (`add_`), but for those of `IN_PLACE`.
METHODS = frozenset(
    """copy_ expand expand_as new_empty repeat reshape_as resize_as unfold view view_as""".split()
)

#: In-place forms that torch has as functions too.
IN_PLACE = frozenset(
    """abs_ acos_ acosh_ alpha_dropout_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_
    atan_ atanh_ ceil_ celu_ clamp_ clamp_max_ clamp_min_ clip_ cos_ cosh_ deg2rad_ dropout_
    embedding_renorm_ erf_ erfc_ exp2_ exp_ expm1_ feature_alpha_dropout_ feature_dropout_ fill_ fix_ floor_
    frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_
    rad2deg_ reciprocal_ relu_ round_ rrelu_ rsqrt_ selu_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_
    threshold_ trunc_ xlogy_ zero_""".split()
)

#: In the module only.
FUNCTIONS = frozenset(
    """adaptive_avg_pool1d alias_copy alpha_dropout alpha_dropout_ as_strided_copy atleast_1d atleast_2d
    atleast_3d avg_pool1d bartlett_window batch_norm bilinear binary_cross_entropy_with_logits
    blackman_window block_diag bucketize celu celu_ channel_shuffle combinations constant_pad_nd conv1d
    conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution
    cosine_embedding_loss cosine_similarity ctc_loss detach_copy diagonal_copy dropout dropout_
    embedding embedding_renorm_ expand_copy feature_alpha_dropout feature_alpha_dropout_ feature_dropout
    feature_dropout_ frobenius_norm full_like grid_sampler grid_sampler_2d grid_sampler_3d group_norm
    gru gru_cell hamming_window hann_window hinge_embedding_loss instance_norm kaiser_window kl_div
    layer_norm lstm lstm_cell lu_unpack margin_ranking_loss max_pool1d max_pool2d max_pool3d
    native_batch_norm native_channel_shuffle native_group_norm native_layer_norm nuclear_norm ones_like
    pairwise_distance pdist permute_copy pixel_shuffle pixel_unshuffle poisson poisson_nll_loss rms_norm
    rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell rrelu rrelu_ select_copy selu selu_ slice_copy
    split_copy split_with_sizes_copy squeeze_copy t_copy tensordot threshold threshold_ transpose_copy
    triplet_margin_loss unbind_copy unfold_copy unsqueeze_copy view_as_complex view_as_complex_copy
    view_as_real view_as_real_copy view_copy zeros_like""".split()
)

#: In nn.functional only, which also shows some of the above.
FUNCTIONAL = frozenset(
    """adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d
    avg_pool2d avg_pool3d binary_cross_entropy col2im cross_entropy elu elu_ gaussian_nll_loss gelu glu
    hardsigmoid hardswish hardswish_ hardtanh hardtanh_ huber_loss im2col l1_loss leaky_relu leaky_relu_
    linear local_response_norm logsigmoid mish mse_loss multi_margin_loss multilabel_margin_loss
    multilabel_soft_margin_loss nll_loss one_hot pad relu6 scaled_dot_product_attention silu silu_
    smooth_l1_loss soft_margin_loss softplus softshrink softsign tanhshrink""".split()
)

#: Rows of torch's submodules: `linalg_solve` stands in `linalg` as `solve`, and nowhere else.
MODULES = ("fft_", "linalg_", "special_")

#: Parts of other functions.
HIDDEN = frozenset(
    """_adaptive_max_pool _affine_grid _embedding_bags _fractional_max_pool _gradient _gradient_at
    _grid_sample _histogram_edges _histogramdd _interpolate _lp_pool _max_pool _max_unpool _standard_gamma _standard_gamma_grad _std_mean _unique
    _unique_consecutive _unravel_index _var_mean nonzero_numpy slice transfer""".split()
)

#: Attributes of a tensor that the table has as functions of it; the first are functions too.
PROPERTIES = ("real", "imag", "T", "mT")


def _is_function(name):
    if name.startswith(("_", *MODULES)) or name in METHODS or name in FUNCTIONAL or name in HIDDEN or name in ("T", "mT"):
        return False
    return not name.endswith("_") or name in IN_PLACE


def functions():
    """The table's names that stand in the module."""
    return {name: function for name, function in _functions.items() if _is_function(name)}


def submodule(prefix):
    """The table's names of the submodule whose rows begin so."""
    return {name[len(prefix) :]: function for name, function in _functions.items() if name.startswith(prefix)}


def arrange_methods():
    """Takes from Tensor what torch does not have there, and makes properties of what are no calls."""
    parts = [name for name in _functions if name.startswith(MODULES)]
    for name in (*FUNCTIONS, *FUNCTIONAL, *HIDDEN, *parts):
        if name in Tensor.__dict__:
            delattr(Tensor, name)
    for name in PROPERTIES:
        if name in _functions:
            setattr(Tensor, name, property(_functions[name], doc=_functions[name].__doc__))
