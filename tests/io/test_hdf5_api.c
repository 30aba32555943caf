/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares our declarations of HDF5's functions and constants with the header. Without it, the test
 * counts as skipped. */
#include "support/test.h"

#if defined __has_include
#  if __has_include(<hdf5.h>)
#    define HAS_HEADER 1
#    include <hdf5.h>
#    undef H5CHECK /* in its constants: calls of the library, which is not linked */
#    undef H5OPEN
#    define H5CHECK
#    define H5OPEN

#    define AMBIT__H5_THEIRS 1
typedef hid_t ambit__hid;
typedef hssize_t ambit__hssize;
typedef hsize_t ambit__hsize;
typedef haddr_t ambit__haddr;
typedef H5E_error2_t ambit__h5_error;
typedef H5G_info_t ambit__h5_group_info;
typedef H5E_auto2_t ambit__h5_print_fn;
typedef H5E_walk2_t ambit__h5_walk_fn;
#  endif
#endif

#ifdef HAS_HEADER
#  include "io/hdf5_api.h"

static void the_functions_have_their_true_types(void)
{
#  define X(result, name, parameters)                                                              \
    CHECK_MSG(                                                                                     \
        __builtin_types_compatible_p(__typeof__(&name), __typeof__(((ambit__h5_api *)0)->name)),   \
        "%s has another type", #name);
  AMBIT__H5_MAP(X)
#  undef X
}

static void the_variables_are_ids(void)
{
#  define X(name) CHECK(__builtin_types_compatible_p(__typeof__(name), hid_t));
  AMBIT__H5_IDS(X)
#  undef X
}

static void the_numbers_are_theirs(void)
{
#  define X(name, theirs, value)                                                                   \
    CHECK_MSG((int)(theirs) == (value), "%s is %d, not %d", #theirs, (int)(theirs), value);
  AMBIT__H5_VALUES(X)
#  undef X
}

static void numbers_and_structures_have_their_sizes(void)
{
  CHECK_EQ(8, sizeof(hid_t));
  CHECK_EQ(8, sizeof(hsize_t));
  CHECK_EQ(8, sizeof(hssize_t));
  CHECK_EQ(8, sizeof(haddr_t));
  CHECK((hid_t)-1 < 0 && (hssize_t)-1 < 0 && (hsize_t)-1 > 0 && (haddr_t)-1 > 0);
  CHECK_EQ(sizeof(H5E_error2_t), sizeof(struct ambit__h5_error));
  CHECK_EQ(offsetof(H5E_error2_t, desc), offsetof(struct ambit__h5_error, text));
  CHECK_EQ(sizeof(H5G_info_t), sizeof(struct ambit__h5_group_info));
  CHECK_EQ(offsetof(H5G_info_t, nlinks), offsetof(struct ambit__h5_group_info, links));
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"the_functions_have_their_true_types", the_functions_have_their_true_types},
      {"the_variables_are_ids", the_variables_are_ids},
      {"the_numbers_are_theirs", the_numbers_are_theirs},
      {"numbers_and_structures_have_their_sizes", numbers_and_structures_have_their_sizes},
      {NULL, NULL},
  };

  return test_main(argc, argv, cases);
}

#else

static void the_declarations_are_those_of_the_header(void)
{
  SKIP("there is no hdf5.h");
}

int main(int argc, char **argv)
{
  static const test_case cases[] = {
      {"the_declarations_are_those_of_the_header", the_declarations_are_those_of_the_header},
      {NULL, NULL},
  };

  return test_main(argc, argv, cases);
}

#endif
