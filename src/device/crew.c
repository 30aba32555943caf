/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/crew.h"

#include "device/cpu/pool.h"

ambit_status ambit__crew_open(ambit__errors *errors, ambit__crew *crew)
{
  ambit__pool *pool;

  AMBIT_TRY(ambit__pool_open(errors, 0, &pool));
  *crew = ambit__pool_crew(pool);
  return AMBIT_OK;
}

void ambit__crew_close(ambit__crew *crew)
{
  ambit__pool_close(crew->pool);
}
