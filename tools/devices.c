/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.c - `ambit devices`: lists the devices of this machine.
 */
#include "args.h"
#include "runtime/run/run.h"

#include <stdio.h>

enum { QUICK = 1 };

/* Prints the name of a device, and its properties below. */
static ambit_status print_device(ambit *a, const ambit__backend *backend, int ordinal, bool quick)
{
  ambit__device_info info;
  ambit__device *dev;

  AMBIT_TRY(backend->open(&a->errors, &a->settings, ordinal, &dev));
  backend->info(dev, &info);
  printf("%s:%d  %s\n", backend->name, ordinal, info.name);
  printf("       %s\n", backend->summary);
  printf("       memory %.1f GiB", (double)info.memory / (1 << 30));
  if (!quick && backend->copy_bandwidth)
    printf(", copies %.1f GB/s", backend->copy_bandwidth(dev) / 1e9);
  printf("\n");
  backend->close(dev);
  return AMBIT_OK;
}

static int run(ambit *a, tool_args *args)
{
  bool quick = false;
  const char *value;
  int id;

  while ((id = tool_next(args, &value))) {
    if (id == TOOL_HELP) return tool_help(&tool_devices);
    if (id == TOOL_WRONG) return TOOL_USAGE;
    if (id == TOOL_WORD) return tool_wrong(args, "unexpected word '%s'", value);
    quick = true;
  }
  if (ambit_process(a)) return TOOL_OK; /* simultaneous measurements would disturb each other */
  for (int i = 0; ambit__backend_at(i); i++)
    for (int k = 0; k < ambit__backend_at(i)->count(); k++)
      if (print_device(a, ambit__backend_at(i), k, quick)) return TOOL_FAILED;
  return TOOL_OK;
}

static const tool_option options[] = {
    {QUICK, 'q', "quick", NULL, "do not measure the copy bandwidth"},
    {0},
};

const tool_command tool_devices = {
    .name = "devices",
    .words = "[--quick]",
    .summary = "Lists the devices of this machine: name, memory and copy bandwidth.",
    .options = options,
    .notes =
        "The default is the first CUDA GPU, else the first OpenCL GPU with memory of its own,\n"
        "else cpu (change it with --device, --ambit-devices or AMBIT_DEVICES).\n"
        "Under mpirun, the devices of the node of process 0 are listed.\n"
        "\nexample:\n"
        "  ambit devices\n",
    .run = run,
};
