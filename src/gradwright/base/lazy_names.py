"""What `gradwright` imports when it is first asked for, by the module that holds it.

Made by ``python -m docs.generator.stubs``.
"""

LAZY = {
    "gradwright.check":
        "check",
    "gradwright.compilation.compile":
        "compile",
    "gradwright.cuda":
        "cuda",
    "gradwright.distributed":
        "distributed",
    "gradwright.distributions":
        "distributions",
    "gradwright.face.methods.storage":
        "TypedStorage UntypedStorage is_storage",
    "gradwright.face.methods.subclasses":
        "DisableTorchFunctionSubclass",
    "gradwright.face.sparse":
        "sparse_coo_tensor",
    "gradwright.face.typed":
        "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor "
        "ShortTensor",
    "gradwright.func":
        "func",
    "gradwright.masked":
        "masked",
    "gradwright.nn":
        "nn",
    "gradwright.nn.functional.aten":
        "_upsample_bilinear2d_aa adaptive_avg_pool1d adaptive_max_pool1d affine_grid_generator avg_pool1d "
        "channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution "
        "grid_sampler grid_sampler_2d grid_sampler_3d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d "
        "native_channel_shuffle pixel_shuffle pixel_unshuffle",
    "gradwright.nn.functional.top":
        "_batch_norm_with_update _native_batch_norm_legit _softmax_backward_data alpha_dropout alpha_dropout_ "
        "batch_norm bilinear binary_cross_entropy_with_logits celu celu_ cosine_embedding_loss cosine_similarity "
        "ctc_loss dropout dropout_ embedding feature_alpha_dropout feature_alpha_dropout_ feature_dropout "
        "feature_dropout_ group_norm hinge_embedding_loss instance_norm kl_div layer_norm margin_ranking_loss "
        "native_batch_norm native_dropout native_group_norm native_layer_norm pairwise_distance pdist "
        "poisson_nll_loss relu_ rms_norm rrelu rrelu_ selu selu_ threshold threshold_ triplet_margin_loss",
    "gradwright.optim":
        "optim",
    "gradwright.profiler":
        "profiler",
    "gradwright.pytorch.amp":
        "GradScaler autocast autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
        "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled "
        "is_autocast_cpu_enabled is_autocast_enabled set_autocast_cache_enabled set_autocast_cpu_dtype "
        "set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype",
    "gradwright.pytorch.asked":
        "compiled_with_cxx11_abi frombuffer get_device has_lapack has_mkl has_openmp has_spectral is_conj "
        "is_distributed is_inference is_neg is_same_size is_signed is_vulkan_available range typename",
    "gradwright.pytorch.foreach":
        "_foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_ _foreach_add _foreach_add_ _foreach_addcdiv "
        "_foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ _foreach_asin _foreach_asin_ _foreach_atan "
        "_foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_clamp_max _foreach_clamp_max_ _foreach_clamp_min "
        "_foreach_clamp_min_ _foreach_clone _foreach_copy_ _foreach_cos _foreach_cos_ _foreach_cosh _foreach_cosh_ "
        "_foreach_div _foreach_div_ _foreach_erf _foreach_erf_ _foreach_erfc _foreach_erfc_ _foreach_exp "
        "_foreach_exp_ _foreach_expm1 _foreach_expm1_ _foreach_floor _foreach_floor_ _foreach_frac _foreach_frac_ "
        "_foreach_lerp _foreach_lerp_ _foreach_lgamma _foreach_lgamma_ _foreach_log _foreach_log10 _foreach_log10_ "
        "_foreach_log1p _foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_log_ _foreach_max _foreach_maximum "
        "_foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mul _foreach_mul_ _foreach_neg _foreach_neg_ "
        "_foreach_norm _foreach_pow _foreach_pow_ _foreach_reciprocal _foreach_reciprocal_ _foreach_round "
        "_foreach_round_ _foreach_rsqrt _foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_ _foreach_sign "
        "_foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt _foreach_sqrt_ "
        "_foreach_sub _foreach_sub_ _foreach_tan _foreach_tan_ _foreach_tanh _foreach_tanh_ _foreach_trunc "
        "_foreach_trunc_ _foreach_zero_",
    "gradwright.pytorch.in_place":
        "abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ atanh_ ceil_ "
        "clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach_ erf_ erfc_ exp2_ exp_ expm1_ "
        "fix_ floor_ frac_ gcd_ i0_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ "
        "reciprocal_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_",
    "gradwright.pytorch.jit":
        "Future fork wait",
    "gradwright.pytorch.old":
        "frobenius_norm gru_cell lstm_cell norm_except_dim nuclear_norm rnn_relu_cell rnn_tanh_cell",
    "gradwright.pytorch.settings":
        "are_deterministic_algorithms_enabled get_deterministic_debug_mode get_float32_matmul_precision "
        "get_num_interop_threads get_num_threads is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled "
        "set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal "
        "set_num_interop_threads set_num_threads set_warn_always use_deterministic_algorithms",
    "gradwright.pytorch.symbols":
        "SymBool SymFloat SymInt cond sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum while_loop",
    "gradwright.serialization":
        "load save serialization",
    "gradwright.signal":
        "signal",
    "gradwright.sparse":
        "sparse",
    "gradwright.testing":
        "testing",
    "gradwright.transform.value_and_grad":
        "value_and_grad",
    "gradwright.transform.vmap":
        "vmap",
    "gradwright.utils":
        "utils",
    "gradwright.verify.audit":
        "audit",
    "gradwright.verify.audit.notebook":
        "load_ipython_extension",
    "gradwright.verify.pairs.check":
        "check_pair",
    "gradwright.viz":
        "viz",
}  # fmt: skip
