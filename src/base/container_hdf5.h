/* SPDX-License-Identifier: BSD-3-Clause */
/* container_hdf5.h - the metadata of HDF5 around the blocks of a container (HDF5 File Format
 * Specification 3.0): superblock version 2, object headers version 2, groups with compact links,
 * datasets with contiguous layout. HDF5 1.8 and later read it.
 */
#ifndef AMBIT_BASE_CONTAINER_HDF5_H
#define AMBIT_BASE_CONTAINER_HDF5_H

#include "base/container.h"
#include "base/text.h"

enum { AMBIT__HDF5_DIRECTORY = 64 }; /* the place of the directory in the file, in bytes */

/* Appends all bytes before the blocks to an empty text. */
void ambit__hdf5_head(const ambit__container *c, const char *directory, ambit__text *out);

#endif
