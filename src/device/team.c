/* SPDX-License-Identifier: BSD-3-Clause */
#include "device/team.h"

#include "device/cpu/pool.h"

ambit_status ambit__team_open(ambit__errors *errors, ambit__team *team)
{
  ambit__pool *pool;

  AMBIT_TRY(ambit__pool_open(errors, 0, &pool));
  *team = ambit__pool_team(pool);
  return AMBIT_OK;
}

void ambit__team_close(ambit__team *team)
{
  ambit__pool_close(team->pool);
}
