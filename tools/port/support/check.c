/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - a step beside its serial nest, for programs translated with --check.
 *
 * The step works on the device; the host keeps the values from before it, and the serial nest turns
 * them into its own result. Both must be equal to the last bit.
 */
static int port_beside; /* steps to compare; 0: the step did not run */

PORT_API void port_go_beside(void)
{
  int n;

  port_split_planes();
  n = port_norders;
  for (int k = 0; k < port_nrecords; k++)
    port_to_host(port_records[k]);
  port_beside = port_go() ? n : 0;
  port_flush();
}

static double port_number_at(const void *values, ambit_type type, size_t i)
{
  switch (type) {
  case AMBIT_F32: return ((const float *)values)[i];
  case AMBIT_F64: return ((const double *)values)[i];
  case AMBIT_I32: return ((const int32_t *)values)[i];
  case AMBIT_U8: return ((const uint8_t *)values)[i];
  case AMBIT_I16: return ((const int16_t *)values)[i];
  default: return (double)((const int64_t *)values)[i];
  }
}

static void port_tell_cell(const port_rule *rule, const port_record *r, size_t cell, double step,
                           double serial)
{
  int64_t at[PORT_AXES];

  for (int d = r->axes - 1; d >= 0; d--) {
    const size_t n = (size_t)(r->hi[d] - r->lo[d]);

    at[d] = r->lo[d] + (int64_t)(cell % n);
    cell /= n;
  }
  fprintf(stderr, "%s: the step differs from the serial nest first at cell", rule->place);
  for (int d = 0; d < r->axes; d++)
    fprintf(stderr, "[%lld]", (long long)at[d]);
  fprintf(stderr, ": %.17g, and serial %.17g\n", step, serial);
}

/* The serial result is the one that counts from here on. */
static void port_compare_array(port_rule *rule, port_record *r)
{
  const size_t size = ambit_type_size(r->type), cells = port_cells_of(r);
  char *step = malloc(cells * size), *serial = malloc(cells * size);
  size_t i = 0;

  if (!step || !serial) exit(1);
  port_must(ambit_field_read(r->field, r->lo, r->hi, step) == AMBIT_OK);
  port_pack(r, serial, 0);
  while (i < cells && !memcmp(step + i * size, serial + i * size, size))
    i++;
  if (i < cells && !rule->told++ && port_first())
    port_tell_cell(rule, r, i, port_number_at(step, r->type, i),
                   port_number_at(serial, r->type, i));
  port_part(r);
  r->host_ok = 1;
  r->dev_ok = i == cells;
  free(step);
  free(serial);
}

PORT_API void port_compare(void)
{
  for (int o = 0; o < port_beside; o++)
    for (int i = 0; i < port_orders[o].nargs && !port_is_empty(&port_orders[o]); i++) {
      const port_argument *a = &port_orders[o].args[i];

      if (!port_writes_slot(port_orders[o].rule->slots[a->slot].kind)) continue;
      for (int k = 0; k < port_nrecords; k++)
        if (port_same_array(port_records[k], &a->r) && !port_records[k]->host_ok)
          port_compare_array(port_orders[o].rule, port_records[k]);
    }
  port_beside = 0;
}
