# SPDX-License-Identifier: BSD-3-Clause
"""The public headers as ctypes. Made by python/generate.py: do not edit."""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint16,
                    c_void_p)

AMBIT_ABOVE = 1
AMBIT_ALL_FACES = 4095
AMBIT_ALL_PLANES = 1
AMBIT_ANTISYMMETRIC = 7
AMBIT_AOS = 1
AMBIT_ARG_FIELD = 0
AMBIT_ARG_NUMBER = 2
AMBIT_ARG_RECORD = 4
AMBIT_ARG_SCALAR = 1
AMBIT_ARG_TABLE = 3
AMBIT_AT_LEAST = 4
AMBIT_AT_MOST = 3
AMBIT_BELOW = 0
AMBIT_BF16 = 7
AMBIT_CLAMP = 5
AMBIT_CONSTANT = 1
AMBIT_CUDA = 1
AMBIT_CUDA_MEMORY = 1
AMBIT_DEGREES = 1
AMBIT_DIRICHLET = 8
AMBIT_ECOMPILE = 7
AMBIT_EDEVICE = 8
AMBIT_EINVAL = 2
AMBIT_EIO = 9
AMBIT_EKERNEL = 3
AMBIT_ENODEVICE = 6
AMBIT_ENOMEM = 1
AMBIT_EOPTION = 10
AMBIT_EPROCESS = 11
AMBIT_EPROGRAM = 4
AMBIT_EQUAL = 2
AMBIT_EUNSUPPORTED = 5
AMBIT_F16 = 6
AMBIT_F32 = 0
AMBIT_F64 = 1
AMBIT_FIXED = 6
AMBIT_FOLD = 3
AMBIT_GREATEST = 5
AMBIT_HOST_MEMORY = 0
AMBIT_I16 = 4
AMBIT_I32 = 2
AMBIT_I64 = 5
AMBIT_INACTIVE = 2147483648
AMBIT_LEAST = 4
AMBIT_LINEAR = 1
AMBIT_LUMA = 0
AMBIT_MAX = 2
AMBIT_MAX_DIMS = 6
AMBIT_MAX_PARAMS = 32
AMBIT_MAX_REACH = 16
AMBIT_MEAN = 0
AMBIT_METRES = 2
AMBIT_MIN = 1
AMBIT_NEAREST = 0
AMBIT_NEUMANN = 9
AMBIT_NONE = 0
AMBIT_NORM_1 = 1
AMBIT_NORM_2 = 2
AMBIT_NORM_MAX = 3
AMBIT_OK = 0
AMBIT_ON_DEVICE = 4
AMBIT_OPENCL = 2
AMBIT_PARAM_FIELD = 0
AMBIT_PARAM_REDUCTION = 2
AMBIT_PARAM_TABLE = 3
AMBIT_PARAM_VALUE = 1
AMBIT_PERIODIC = 2
AMBIT_READ = 1
AMBIT_REFLECT = 3
AMBIT_SOA = 0
AMBIT_SUM = 0
AMBIT_SYMMETRIC = 4
AMBIT_U16 = 8
AMBIT_U32 = 9
AMBIT_U64 = 10
AMBIT_U8 = 3
AMBIT_UNKNOWN_UNIT = 0
AMBIT_VERSION_MAJOR = 0
AMBIT_VERSION_MINOR = 2
AMBIT_VERSION_PATCH = 0
AMBIT_WRITE = 2


ambit_error_fn = CFUNCTYPE(None, c_int, c_char_p, c_void_p)


class ambit_arg(Structure):
    _fields_ = [
        ("kind", c_int),
        ("field", c_void_p),
        ("scalar", c_void_p),
        ("number", c_double),
        ("table", c_void_p),
        ("type", c_int),
        ("rows", c_int),
        ("columns", c_int),
        ("reserved", (c_int64 * 2)),
    ]


ambit_active_fn = CFUNCTYPE(c_int, POINTER(c_int64), c_void_p)


ambit_fill_fn = CFUNCTYPE(c_double, POINTER(c_int64), c_int, c_void_p)


class ambit_memory(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("stride", (c_int64 * 6)),
        ("component", c_int64),
        ("device", c_int),
        ("ordinal", c_int),
        ("reserved", (c_int64 * 4)),
    ]


class ambit_picture(Structure):
    _fields_ = [
        ("lo", c_double),
        ("hi", c_double),
        ("colours", c_char_p),
        ("slice", c_char_p),
        ("component", c_int),
        ("relief", c_int),
        ("rate", c_double),
        ("reserved", (c_int64 * 4)),
    ]


class ambit_file_info(Structure):
    _fields_ = [
        ("type", c_int),
        ("ndims", c_int),
        ("extents", (c_int64 * 7)),
        ("spacing", (c_double * 7)),
        ("unit", c_int),
        ("has_origin", c_int),
        ("origin", (c_double * 7)),
    ]


class ambit_weights(Structure):
    _fields_ = [
        ("ndims", c_int),
        ("low", (c_int * 6)),
        ("high", (c_int * 6)),
        ("weights", POINTER(c_double)),
        ("divisor", c_double),
        ("reserved", (c_int64 * 4)),
    ]


class ambit_offset(Structure):
    _fields_ = [
        ("component", c_int),
        ("axis", (c_int * 6)),
    ]


class ambit_param_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("reduction", c_int),
        ("type", c_int),
        ("components", c_int),
        ("is_vector", c_int),
        ("is_const", c_int),
        ("is_written", c_int),
        ("reads_neighbours", c_int),
        ("low", (c_int * 6)),
        ("high", (c_int * 6)),
        ("noffsets", c_int),
        ("offsets", POINTER(ambit_offset)),
    ]


ambit_callback_fn = CFUNCTYPE(c_int, c_void_p, c_int64, c_void_p)


class ambit_stats(Structure):
    _fields_ = [
        ("iterations", c_int64),
        ("seconds", c_double),
        ("cells", c_double),
        ("bytes", c_double),
        ("flops", c_double),
        ("copy_bandwidth", c_double),
    ]


class ambit_cells(Structure):
    _fields_ = [
        ("values", c_void_p),
        ("type", c_int),
        ("components", c_int),
        ("stride", (c_int64 * 6)),
        ("component", c_int64),
        ("reserved", (c_int64 * 2)),
    ]


class ambit_part(Structure):
    _fields_ = [
        ("ndims", c_int),
        ("lo", (c_int64 * 6)),
        ("hi", (c_int64 * 6)),
        ("extent", (c_int64 * 6)),
        ("step", c_int64),
        ("number", c_int),
        ("count", c_int),
        ("nfields", c_int),
        ("fields", (ambit_cells * 32)),
    ]


ambit_host_fn = CFUNCTYPE(c_int, POINTER(ambit_part), c_void_p)


ambit_output_fn = CFUNCTYPE(c_int, c_void_p, c_void_p)


class ambit_problem(Structure):
    _fields_ = [
        ("ndims", c_int),
        ("extents", (c_int64 * 6)),
        ("weights", POINTER(ambit_weights)),
        ("kernel", c_void_p),
        ("iterations", c_int64),
        ("init", ambit_fill_fn),
        ("output", ambit_output_fn),
        ("user", c_void_p),
        ("reserved", (c_int64 * 4)),
    ]


class ambit_compiled_call(Structure):
    _fields_ = [
        ("lo", (c_int64 * 6)),
        ("hi", (c_int64 * 6)),
        ("offset", (c_int64 * 6)),
        ("extent", (c_int64 * 6)),
        ("step", c_int64),
        ("origin", (c_void_p * 32)),
        ("stride", ((c_int64 * 6) * 32)),
        ("component", (c_int64 * 32)),
    ]


ambit_cpu_fn = CFUNCTYPE(None, POINTER(ambit_compiled_call))


ambit_source_fn = CFUNCTYPE(c_int, c_int64, c_void_p, c_void_p)


ambit_sink_fn = CFUNCTYPE(c_int, c_int64, c_void_p, c_void_p)


STRUCTS = (ambit_arg, ambit_memory, ambit_picture, ambit_file_info, ambit_weights, ambit_offset, ambit_param_info, ambit_stats, ambit_cells, ambit_part, ambit_problem, ambit_compiled_call,)

# name: (result, types of the parameters, names of the parameters)
FUNCTIONS = {
    "ambit_apply_args": (c_int, (c_void_p, c_void_p, c_int, POINTER(ambit_arg),), "p k nargs args"),
    "ambit_apply_box_args": (c_int, (c_void_p, POINTER(c_int64), POINTER(c_int64), c_void_p, c_int, POINTER(ambit_arg),), "p lo hi k nargs args"),
    "ambit_apply_faces_args": (c_int, (c_void_p, c_uint, c_void_p, c_int, POINTER(ambit_arg),), "p faces k nargs args"),
    "ambit_apply_host": (c_int, (c_void_p, ambit_host_fn, c_void_p, c_int, POINTER(c_void_p), POINTER(c_uint),), "p fn user n fields modes"),
    "ambit_arg_field": (ambit_arg, (c_void_p,), "f"),
    "ambit_arg_number": (ambit_arg, (c_double,), "x"),
    "ambit_arg_record": (ambit_arg, (c_void_p,), "r"),
    "ambit_arg_same": (ambit_arg, (ambit_arg,), "a"),
    "ambit_arg_scalar": (ambit_arg, (c_void_p,), "s"),
    "ambit_arg_table": (ambit_arg, (c_void_p, c_int, c_int, c_int,), "values type rows columns"),
    "ambit_bfloat_decode": (c_double, (c_uint16,), "bits"),
    "ambit_bfloat_encode": (c_uint16, (c_double,), "x"),
    "ambit_call": (c_int, (c_void_p, c_void_p, c_int64,), "p called iterations"),
    "ambit_call_until": (c_int, (c_void_p, c_void_p, c_void_p, c_int, c_double, c_int64,), "p called s when value most"),
    "ambit_checkpoint": (c_int, (c_void_p, c_char_p, c_char_p,), "a path every"),
    "ambit_checkpoint_value": (c_int, (c_void_p, c_char_p, c_void_p, c_size_t,), "a name value bytes"),
    "ambit_close": (c_int, (c_void_p,), "a"),
    "ambit_coefficients": (c_int, (c_int, c_int, POINTER(c_double),), "derivative order weights"),
    "ambit_copy_box": (c_int, (c_void_p, c_void_p, POINTER(c_int64), POINTER(c_int64), c_void_p, POINTER(c_int64),), "p from lo hi to at"),
    "ambit_define": (c_int, (c_void_p, c_char_p, c_int, c_double,), "a name type value"),
    "ambit_define_real": (c_int, (c_void_p, c_int,), "a type"),
    "ambit_error": (c_int, (c_void_p,), "a"),
    "ambit_error_clear": (None, (c_void_p,), "a"),
    "ambit_error_text": (c_char_p, (c_void_p,), "a"),
    "ambit_field_boundary_arg": (c_int, (c_void_p, c_uint, c_int, ambit_arg,), "f faces kind value"),
    "ambit_field_boundary_component": (c_int, (c_void_p, c_int, c_uint, c_int, c_double,), "f component faces kind value"),
    "ambit_field_boundary_permuted": (c_int, (c_void_p, c_uint, c_int, POINTER(c_int),), "f faces kind from"),
    "ambit_field_components": (c_int, (c_void_p,), "f"),
    "ambit_field_create": (c_void_p, (c_void_p, c_char_p, c_int,), "g name type"),
    "ambit_field_create_on": (c_void_p, (c_void_p, c_char_p, c_int, c_uint,), "g name type axes"),
    "ambit_field_create_vector": (c_void_p, (c_void_p, c_char_p, c_int, c_int, c_int,), "g name type components order"),
    "ambit_field_create_vector_on": (c_void_p, (c_void_p, c_char_p, c_int, c_int, c_int, c_uint,), "g name type components order axes"),
    "ambit_field_create_view": (c_void_p, (c_void_p, c_void_p, POINTER(c_int64),), "coarse field first"),
    "ambit_field_destroy": (None, (c_void_p,), "f"),
    "ambit_field_draw": (c_int, (c_void_p, c_char_p, POINTER(ambit_picture),), "f path picture"),
    "ambit_field_fill": (c_int, (c_void_p, ambit_fill_fn, c_void_p,), "f fn user"),
    "ambit_field_fill_parallel": (c_int, (c_void_p, ambit_fill_fn, c_void_p,), "f fn user"),
    "ambit_field_fill_sponge": (c_int, (c_void_p, c_uint, c_int, c_double,), "f faces layers strength"),
    "ambit_field_load": (c_int, (c_void_p, c_char_p,), "f path"),
    "ambit_field_map": (POINTER(ambit_part), (c_void_p, c_int, c_uint,), "f part mode"),
    "ambit_field_memory": (c_int, (c_void_p, POINTER(ambit_memory),), "f memory"),
    "ambit_field_name": (c_char_p, (c_void_p,), "f"),
    "ambit_field_read": (c_int, (c_void_p, POINTER(c_int64), POINTER(c_int64), c_void_p,), "f lo hi values"),
    "ambit_field_save": (c_int, (c_void_p, c_char_p,), "f path"),
    "ambit_field_set": (c_int, (c_void_p, c_double,), "f value"),
    "ambit_field_type": (c_int, (c_void_p,), "f"),
    "ambit_field_unmap": (c_int, (c_void_p,), "f"),
    "ambit_field_write": (c_int, (c_void_p, POINTER(c_int64), POINTER(c_int64), c_void_p,), "f lo hi values"),
    "ambit_file_inspect": (POINTER(ambit_file_info), (c_void_p, c_char_p,), "a path"),
    "ambit_grid_activate": (c_int, (c_void_p, ambit_active_fn, c_void_p,), "g is_active user"),
    "ambit_grid_cells": (c_int64, (c_void_p,), "g"),
    "ambit_grid_create": (c_void_p, (c_void_p, c_int, POINTER(c_int64),), "a ndims extents"),
    "ambit_grid_create_masked": (c_void_p, (c_void_p,), "mask"),
    "ambit_grid_create_nested": (c_int, (c_void_p, c_int, POINTER(c_int64), c_int, POINTER(c_void_p),), "a ndims extents levels grids"),
    "ambit_grid_create_sparse": (c_void_p, (c_void_p, c_int, POINTER(c_int64), ambit_active_fn, c_void_p,), "a ndims extents is_active user"),
    "ambit_grid_destroy": (None, (c_void_p,), "g"),
    "ambit_grid_extent": (c_int64, (c_void_p, c_int,), "g axis"),
    "ambit_grid_geometry": (c_int, (c_void_p, POINTER(c_double), POINTER(c_double),), "g origin spacing"),
    "ambit_grid_load_sparse": (c_void_p, (c_void_p, c_char_p,), "a path"),
    "ambit_grid_ndims": (c_int, (c_void_p,), "g"),
    "ambit_grid_parts": (c_int, (c_void_p,), "g"),
    "ambit_grid_save": (c_int, (c_void_p, c_char_p, c_int, POINTER(c_void_p),), "g path n fields"),
    "ambit_half_decode": (c_double, (c_uint16,), "bits"),
    "ambit_half_encode": (c_uint16, (c_double,), "x"),
    "ambit_histogram": (c_int, (c_void_p, c_void_p, c_double, c_double, c_int, POINTER(c_void_p),), "p f lo hi n counts"),
    "ambit_histogram_on": (c_int, (c_void_p, c_void_p, c_double, c_double, c_void_p,), "p f lo hi counts"),
    "ambit_history": (c_void_p, (c_void_p, c_void_p, c_int64,), "p s every"),
    "ambit_history_all": (c_void_p, (c_void_p, c_char_p, c_int, POINTER(c_void_p), c_int64,), "p name n scalars every"),
    "ambit_inject_arg": (c_int, (c_void_p, c_void_p, ambit_arg, c_void_p,), "p points value f"),
    "ambit_kernel_bytes": (c_double, (c_void_p,), "k"),
    "ambit_kernel_create": (c_void_p, (c_void_p, c_char_p,), "a text"),
    "ambit_kernel_create_named": (c_void_p, (c_void_p, c_char_p, c_int,), "a name type"),
    "ambit_kernel_create_weighted": (c_void_p, (c_void_p, c_char_p, c_int, POINTER(ambit_weights),), "a name type weights"),
    "ambit_kernel_destroy": (None, (c_void_p,), "k"),
    "ambit_kernel_find": (c_void_p, (c_void_p, c_char_p,), "k name"),
    "ambit_kernel_flops": (c_double, (c_void_p,), "k"),
    "ambit_kernel_is_once": (c_int, (c_void_p,), "k"),
    "ambit_kernel_load": (c_void_p, (c_void_p, c_char_p,), "a path"),
    "ambit_kernel_name": (c_char_p, (c_void_p,), "k"),
    "ambit_kernel_ndims": (c_int, (c_void_p,), "k"),
    "ambit_kernel_param": (POINTER(ambit_param_info), (c_void_p, c_int,), "k i"),
    "ambit_kernel_params": (c_int, (c_void_p,), "k"),
    "ambit_locate": (c_int, (c_void_p, c_void_p, c_int, c_void_p, c_void_p,), "p f what value place"),
    "ambit_measure": (c_int, (c_void_p, c_void_p, c_int, c_void_p,), "p f what value"),
    "ambit_on_error": (None, (c_void_p, ambit_error_fn, c_void_p,), "a handler user"),
    "ambit_on_iteration": (c_int, (c_void_p, c_int64, ambit_callback_fn, c_void_p,), "p n fn user"),
    "ambit_open": (c_void_p, (POINTER(c_int), POINTER(POINTER(c_char_p)),), "argc argv"),
    "ambit_open_mpi": (c_void_p, (POINTER(c_int), POINTER(POINTER(c_char_p)), c_void_p,), "argc argv communicator"),
    "ambit_option_get": (c_char_p, (c_void_p, c_char_p,), "a name"),
    "ambit_option_set": (c_int, (c_void_p, c_char_p, c_char_p,), "a name value"),
    "ambit_output": (c_int, (c_void_p, c_int64, c_char_p, c_int, POINTER(c_void_p), POINTER(ambit_picture),), "p n path nfields fields picture"),
    "ambit_output_end": (c_int, (c_void_p,), "p"),
    "ambit_points_count": (c_int64, (c_void_p,), "points"),
    "ambit_points_create": (c_void_p, (c_void_p, c_int64, POINTER(c_double), c_int,), "g n coordinates how"),
    "ambit_points_create_weighted": (c_void_p, (c_void_p, c_int64, POINTER(c_int64), POINTER(c_int64), POINTER(c_double),), "g n first width weights"),
    "ambit_points_destroy": (None, (c_void_p,), "points"),
    "ambit_points_move": (c_int, (c_void_p, POINTER(c_double),), "points coordinates"),
    "ambit_process": (c_int, (c_void_p,), "a"),
    "ambit_processes": (c_int, (c_void_p,), "a"),
    "ambit_program_check_every": (c_int, (c_void_p, c_int64,), "p iterations"),
    "ambit_program_converged": (c_int, (c_void_p,), "p"),
    "ambit_program_create": (c_void_p, (c_void_p,), "g"),
    "ambit_program_destroy": (None, (c_void_p,), "p"),
    "ambit_program_iterations": (c_int64, (c_void_p,), "p"),
    "ambit_program_relax": (c_int, (c_void_p,), "p"),
    "ambit_program_report": (c_int, (c_void_p,), "p"),
    "ambit_program_stats": (POINTER(ambit_stats), (c_void_p, c_int,), "p measure_copy"),
    "ambit_record_columns": (c_int64, (c_void_p,), "r"),
    "ambit_record_create": (c_void_p, (c_void_p, c_char_p,), "a name"),
    "ambit_record_create_ricker": (c_void_p, (c_void_p, c_double, c_double, c_int64, c_double,), "a frequency dt rows amplitude"),
    "ambit_record_destroy": (None, (c_void_p,), "r"),
    "ambit_record_iterations": (c_int, (c_void_p, c_int64, c_int64, POINTER(c_int64),), "r first rows iterations"),
    "ambit_record_name": (c_char_p, (c_void_p,), "r"),
    "ambit_record_read": (c_int, (c_void_p, c_int64, c_int64, POINTER(c_double),), "r first rows values"),
    "ambit_record_rewind": (c_int, (c_void_p,), "r"),
    "ambit_record_rows": (c_int64, (c_void_p,), "r"),
    "ambit_record_save": (c_int, (c_void_p, c_char_p,), "r path"),
    "ambit_record_write": (c_int, (c_void_p, c_int64, c_int64, POINTER(c_double),), "r rows columns values"),
    "ambit_register_cpu": (c_int, (c_char_p, ambit_cpu_fn,), "kernel_text fn"),
    "ambit_register_source": (c_int, (c_char_p, c_int, c_char_p,), "kernel_text language source"),
    "ambit_resample": (c_int, (c_void_p, c_void_p, POINTER(c_int64), POINTER(c_int64), c_void_p, POINTER(c_int64), POINTER(c_int64),), "p from lo hi to to_lo to_hi"),
    "ambit_resume": (c_int, (c_void_p,), "a"),
    "ambit_rotate": (c_int, (c_void_p, c_int, POINTER(c_void_p),), "p n fields"),
    "ambit_run": (c_int, (c_void_p, c_int64,), "p iterations"),
    "ambit_run_to": (c_int, (c_void_p, c_int64,), "p iterations"),
    "ambit_run_until": (c_int, (c_void_p, c_void_p, c_int, c_double, c_int64,), "p s when value most"),
    "ambit_run_until_still": (c_int, (c_void_p, c_int64,), "p most"),
    "ambit_sample": (c_int, (c_void_p, c_void_p, c_void_p, c_void_p,), "p points f to"),
    "ambit_scalar_create": (c_void_p, (c_void_p, c_char_p, c_int,), "a name type"),
    "ambit_scalar_destroy": (None, (c_void_p,), "s"),
    "ambit_scalar_get": (c_double, (c_void_p,), "s"),
    "ambit_scalar_set": (c_int, (c_void_p, c_double,), "s value"),
    "ambit_status_name": (c_char_p, (c_int,), "s"),
    "ambit_status_text": (c_char_p, (c_int,), "s"),
    "ambit_stencil": (c_int, (c_void_p, POINTER(ambit_problem),), "a problem"),
    "ambit_step_every": (c_int, (c_void_p, c_int64,), "p n"),
    "ambit_stop": (None, (c_void_p,), "a"),
    "ambit_stream_before": (c_int, (c_void_p, c_void_p,), "s p"),
    "ambit_stream_create": (c_void_p, (c_void_p, c_void_p, c_void_p,), "p in out"),
    "ambit_stream_destroy": (None, (c_void_p,), "s"),
    "ambit_stream_in_flight": (c_int, (c_void_p, c_int64,), "s items"),
    "ambit_stream_items": (c_int64, (c_void_p,), "s"),
    "ambit_stream_planes": (c_int, (c_void_p, c_int,), "s planes"),
    "ambit_stream_repeat": (c_int, (c_void_p, c_int64,), "s iterations"),
    "ambit_stream_repeat_until": (c_int, (c_void_p, c_void_p, c_int, c_double, c_int64,), "s x when value most"),
    "ambit_stream_run": (c_int, (c_void_p, c_char_p, c_char_p,), "s in out"),
    "ambit_stream_run_with": (c_int, (c_void_p, ambit_source_fn, ambit_sink_fn, c_void_p,), "s source sink user"),
    "ambit_stream_stop": (None, (c_void_p,), "s"),
    "ambit_stream_unmet": (c_int64, (c_void_p,), "s"),
    "ambit_swap": (c_int, (c_void_p, c_void_p, c_void_p,), "p a b"),
    "ambit_sweep_args": (c_int, (c_void_p, c_uint, POINTER(c_int64), POINTER(c_int64), c_void_p, c_int, POINTER(ambit_arg),), "p from lo hi k nargs args"),
    "ambit_type_name": (c_char_p, (c_int,), "t"),
    "ambit_type_size": (c_size_t, (c_int,), "t"),
    "ambit_version": (c_char_p, (), ""),
    "ambit_view": (c_int, (c_void_p, c_void_p,), "p field"),
}
