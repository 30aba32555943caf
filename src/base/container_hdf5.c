/* SPDX-License-Identifier: BSD-3-Clause */
/* container_hdf5.c - the metadata of HDF5 around the blocks (HDF5 File Format Specification 3.0):
 * superblock version 2, object headers version 2, groups with compact links, datasets with
 * contiguous layout.
 */
#include "base/container.h"

#include <string.h>

enum { SUPERBLOCK = 48, UNDEFINED = -1 };

/* Types of messages in object headers. */
enum {
  MESSAGE_DATASPACE = 1,
  MESSAGE_LINK_INFO = 2,
  MESSAGE_DATATYPE = 3,
  MESSAGE_FILL = 5,
  MESSAGE_LINK = 6,
  MESSAGE_LAYOUT = 8,
  MESSAGE_GROUP_INFO = 10,
  MESSAGE_ATTRIBUTE = 12
};

/* ---- bytes ---- */

static void put(ambit__text *t, int64_t x, int bytes)
{
  for (int i = 0; i < bytes; i++) {
    const char byte = (char)(x >> (8 * (i < 8 ? i : 7)) & 255);

    ambit__print_chars(t, &byte, 1);
  }
}

static void align(ambit__text *t, size_t to)
{
  while (t->len % to && !t->failed)
    put(t, 0, 1);
}

static uint32_t turn(uint32_t x, int k)
{
  return x << k | x >> (32 - k);
}

/* The checksum of metadata: lookup3 (hashlittle) by Bob Jenkins, public domain, from 0. */
static uint32_t lookup3(const char *bytes, size_t n)
{
  uint32_t a = UINT32_C(0xdeadbeef) + (uint32_t)n, b = a, c = a;

  for (; n > 0; bytes += 12, n -= n < 12 ? n : 12) {
    unsigned char block[12] = {0};
    uint32_t k[3];

    memcpy(block, bytes, n < 12 ? n : 12);
    memcpy(k, block, sizeof k);
    a += k[0];
    b += k[1];
    c += k[2];
    if (n <= 12) break;
    a = (a - c) ^ turn(c, 4), c += b;
    b = (b - a) ^ turn(a, 6), a += c;
    c = (c - b) ^ turn(b, 8), b += a;
    a = (a - c) ^ turn(c, 16), c += b;
    b = (b - a) ^ turn(a, 19), a += c;
    c = (c - b) ^ turn(b, 4), b += a;
  }
  c = (c ^ b) - turn(b, 14);
  a = (a ^ c) - turn(c, 11);
  b = (b ^ a) - turn(a, 25);
  c = (c ^ b) - turn(b, 16);
  a = (a ^ c) - turn(c, 4);
  b = (b ^ a) - turn(a, 14);
  return (c ^ b) - turn(b, 24);
}

static void put_checksum(ambit__text *t, size_t from)
{
  if (!t->failed) put(t, lookup3(t->chars + from, t->len - from), 4);
}

/* ---- object headers ---- */

/* The header of an object with these messages, which are freed. Returns its place. */
static size_t put_object(ambit__text *t, ambit__text *messages)
{
  size_t at;

  align(t, 8);
  at = t->len;
  ambit__print_chars(t, "OHDR", 4);
  put(t, 2, 1); /* version */
  put(t, 2, 1); /* flags: the next number has 4 bytes */
  put(t, (int64_t)messages->len, 4);
  ambit__print_chars(t, messages->chars ? messages->chars : "", messages->len);
  put_checksum(t, at);
  t->failed |= messages->failed;
  ambit__text_free(messages);
  return at;
}

/* Moves `body` into a message. */
static void end_message(ambit__text *messages, int type, ambit__text *body)
{
  put(messages, type, 1);
  put(messages, (int64_t)body->len, 2);
  put(messages, 0, 1);
  ambit__print_chars(messages, body->chars ? body->chars : "", body->len);
  messages->failed |= body->failed;
  ambit__text_free(body);
}

/* ---- datasets ---- */

static void put_dataspace(ambit__text *b, int ndims, const int64_t *extents)
{
  put(b, 2, 1); /* version */
  put(b, ndims, 1);
  put(b, 0, 1);         /* flags: the extents are fixed */
  put(b, ndims > 0, 1); /* one value, or an array */
  for (int d = 0; d < ndims; d++)
    put(b, extents[d], 8);
}

static void put_integer(ambit__text *b, int bytes, bool is_signed)
{
  put(b, 0x10, 1); /* version 1, class 0 */
  put(b, is_signed ? 8 : 0, 3);
  put(b, bytes, 4);
  put(b, 0, 2); /* offset of the first bit */
  put(b, 8 * bytes, 2);
}

static void put_real(ambit__text *b, int bytes, int exponent)
{
  const int mantissa = 8 * bytes - 1 - exponent;

  put(b, 0x11, 1); /* version 1, class 1 */
  put(b, 0x20, 1); /* little-endian; the first bit of the mantissa is implied */
  put(b, 8 * bytes - 1, 1);
  put(b, 0, 1);
  put(b, bytes, 4);
  put(b, 0, 2);
  put(b, 8 * bytes, 2);
  put(b, mantissa, 1);
  put(b, exponent, 1);
  put(b, 0, 1);
  put(b, mantissa, 1);
  put(b, (1 << (exponent - 1)) - 1, 4);
}

/* `length`: of a text. */
static void put_datatype(ambit__text *b, int type, int64_t length)
{
  switch (type) {
  case AMBIT_F32: put_real(b, 4, 8); break;
  case AMBIT_F64: put_real(b, 8, 11); break;
  case AMBIT_F16: put_real(b, 2, 5); break;
  case AMBIT_BF16: put_real(b, 2, 8); break;
  case AMBIT_I32: put_integer(b, 4, true); break;
  case AMBIT_I16: put_integer(b, 2, true); break;
  case AMBIT_I64: put_integer(b, 8, true); break;
  case AMBIT_U16: put_integer(b, 2, false); break;
  case AMBIT_U32: put_integer(b, 4, false); break;
  case AMBIT_U64: put_integer(b, 8, false); break;
  case AMBIT__BLOCK_TEXT:
    put(b, 0x13, 1); /* version 1, class 3 */
    put(b, 1, 3);    /* padded with NUL */
    put(b, length ? length : 1, 4);
    break;
  default: put_integer(b, 1, false);
  }
}

static void append(ambit__text *to, ambit__text *from)
{
  ambit__print_chars(to, from->chars ? from->chars : "", from->len);
  to->failed |= from->failed;
  ambit__text_free(from);
}

static void put_attribute(ambit__text *messages, const ambit__attribute *a)
{
  const bool is_text = a->type == AMBIT__BLOCK_TEXT;
  const size_t size = is_text ? 1 : ambit_type_size((ambit_type)a->type);
  const int64_t n = a->n;
  ambit__text b = {0}, type = {0}, space = {0};

  put_datatype(&type, a->type, n);
  put_dataspace(&space, is_text ? 0 : 1, &n);
  put(&b, 3, 1); /* version */
  put(&b, 0, 1); /* flags */
  put(&b, (int64_t)strlen(a->name) + 1, 2);
  put(&b, (int64_t)type.len, 2);
  put(&b, (int64_t)space.len, 2);
  put(&b, 0, 1); /* the name is in ASCII */
  ambit__print_chars(&b, a->name, strlen(a->name) + 1);
  append(&b, &type);
  append(&b, &space);
  ambit__print_chars(&b, a->values, (size_t)n * size);
  end_message(messages, MESSAGE_ATTRIBUTE, &b);
}

/* Those of a group, of which `n` characters are the name; 0: of a dataset. */
static void put_attributes(ambit__text *messages, const ambit__container *c, const char *group,
                           size_t n)
{
  for (int i = 0; i < c->nattributes; i++)
    if (strlen(c->attributes[i].object) == n && !strncmp(c->attributes[i].object, group, n))
      put_attribute(messages, &c->attributes[i]);
}

static size_t put_dataset(ambit__text *t, const ambit__container *c, const ambit__block *block)
{
  const bool is_text = block->type == AMBIT__BLOCK_TEXT;
  ambit__text messages = {0}, space = {0}, type = {0}, fill = {0}, layout = {0};

  put_dataspace(&space, is_text ? 0 : block->ndims, block->extents);
  end_message(&messages, MESSAGE_DATASPACE, &space);
  put_datatype(&type, block->type, block->extents[0]);
  end_message(&messages, MESSAGE_DATATYPE, &type);
  put(&fill, 3, 1); /* version */
  put(&fill, 9, 1); /* allocated early; fill values are never written */
  end_message(&messages, MESSAGE_FILL, &fill);
  put(&layout, 3, 1); /* version */
  put(&layout, 1, 1); /* contiguous */
  put(&layout, (int64_t)block->at, 8);
  put(&layout, (int64_t)block->bytes, 8);
  end_message(&messages, MESSAGE_LAYOUT, &layout);
  put_attributes(&messages, c, "", 0);
  return put_object(t, &messages);
}

/* ---- groups ---- */

static void put_group(ambit__text *messages)
{
  ambit__text links = {0}, group = {0};

  put(&links, 0, 2); /* version, flags */
  put(&links, UNDEFINED, 8);
  put(&links, UNDEFINED, 8);
  end_message(messages, MESSAGE_LINK_INFO, &links);
  put(&group, 0, 2); /* version, flags */
  end_message(messages, MESSAGE_GROUP_INFO, &group);
}

static void put_link(ambit__text *messages, const char *name, size_t length, size_t object)
{
  ambit__text b = {0};

  put(&b, 1, 1);    /* version */
  put(&b, 0x11, 1); /* the length of the name has 2 bytes; it is in UTF-8, */
  put(&b, 1, 1);
  put(&b, (int64_t)length, 2);
  ambit__print_chars(&b, name, length);
  put(&b, (int64_t)object, 8);
  end_message(messages, MESSAGE_LINK, &b);
}

/* Whether a block before number i has the same first n characters. */
static bool is_known(const ambit__container *c, size_t i, size_t n)
{
  for (size_t k = 0; k < i; k++)
    if (!strncmp(c->blocks[k].name, c->blocks[i].name, n)) return true;
  return false;
}

/* The group whose members' names begin with `n` characters: its datasets and groups, and itself.
 * The root (0) has the directory, if there is one. */
static size_t put_members(ambit__text *t, const ambit__container *c, const char *name, size_t n,
                          const ambit__block *directory)
{
  ambit__text messages = {0};

  put_group(&messages);
  if (n) put_attributes(&messages, c, name, n - 1);
  if (directory)
    put_link(&messages, "directory", strlen("directory"), put_dataset(t, c, directory));
  for (size_t i = 0; i < c->n; i++) {
    const char *own = c->blocks[i].name + n, *slash;

    if (strncmp(c->blocks[i].name, name, n)) continue;
    slash = strchr(own, '/');
    if (!slash)
      put_link(&messages, own, strlen(own), put_dataset(t, c, &c->blocks[i]));
    else if (!is_known(c, i, n + (size_t)(slash - own) + 1))
      put_link(&messages, own, (size_t)(slash - own),
               put_members(t, c, c->blocks[i].name, n + (size_t)(slash - own) + 1, NULL));
  }
  return put_object(t, &messages);
}

static void put_superblock(ambit__text *t, uint64_t length, size_t root)
{
  ambit__print_chars(t, "\211HDF\r\n\032\n", 8);
  put(t, 2, 1); /* version */
  put(t, 8, 1); /* bytes of addresses */
  put(t, 8, 1); /* and of lengths */
  put(t, 0, 1); /* flags */
  put(t, 0, 8); /* base address */
  put(t, UNDEFINED, 8);
  put(t, (int64_t)length, 8);
  put(t, (int64_t)root, 8);
  put_checksum(t, 0);
}

void ambit__hdf5_head(const ambit__container *c, const char *directory, ambit__text *out)
{
  const int64_t length = directory ? (int64_t)strlen(directory) : 0;
  const ambit__block block = {.type = AMBIT__BLOCK_TEXT,
                              .ndims = 1,
                              .extents = {length},
                              .at = AMBIT__HDF5_DIRECTORY,
                              .bytes = (uint64_t)length};
  ambit__text super = {0};
  size_t root;

  put(out, 0, SUPERBLOCK);
  align(out, AMBIT__HDF5_DIRECTORY);
  if (directory) ambit__print_chars(out, directory, (size_t)length);
  root = put_members(out, c, "", 0, directory ? &block : NULL);
  put_superblock(&super, c->length, root);
  if (!out->failed && !super.failed) memcpy(out->chars, super.chars, SUPERBLOCK);
  out->failed |= super.failed;
  ambit__text_free(&super);
}
