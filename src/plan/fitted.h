/* SPDX-License-Identifier: BSD-3-Clause */
/* fitted.h - the factors of all estimates that no machine is asked for: how generated code uses the
 * speeds of a machine (machine.h). They have no unit, or are counts. What they were fitted to
 * stands with them; docs/design/0030-machine.md says how far off the estimates are elsewhere.
 *
 * Those of GPUs were fitted in ns on one H200. They are written as that number by the recorded
 * speed of the H200: 4150 bytes per ns of the 4230 that it copies.
 */
#ifndef AMBIT_PLAN_FITTED_H
#define AMBIT_PLAN_FITTED_H

/* ---- cores: iterations and waves, fitted to stars and boxes of 2 and 3 dimensions on 2 and 16
 * Xeon cores; rather in favour of waves, which are tried before they are kept ---- */

#define AMBIT__FIT_WORK     (90 / 85.)   /* operations of generated code, by multiply-adds */
#define AMBIT__FIT_SPILL    (40 / 44.)   /* speed of the shared cache for a block in it */
#define AMBIT__FIT_PASS     1.5          /* speed of memory in a pass, over that in a launch */
#define AMBIT__FIT_UNHIDDEN 0.35         /* of the shorter of memory and core, in a launch */
#define AMBIT__FIT_CALL     (40 / 1.33)  /* a call of a function for a box, in chains */
#define AMBIT__FIT_ROW      (200 / 1.33) /* a row that a tile begins with, in chains */
#define AMBIT__FIT_START    (3 / 1.33)   /* a row, in chains: stars on rows of 1, 3 and 8 cells */
#define AMBIT__FIT_ENDS     (2 / 1.33)   /* ghost cells at its ends, in a wave */
#define AMBIT__FIT_WAVE     0.9          /* of the time of single iterations, to prefer a wave */
#define AMBIT__FIT_NEARLY   1.1          /* of the least time: the smallest such depth is taken */
#define AMBIT__FIT_FEW      10           /* threads that start in the time of two */

/* Shares of caches. Of the second-level one, for a block of rows and of planes: with 0.75 passes of
 * star3d1 were 1.4 times as slow on 16 Xeon cores. Of the first, for the rows of a strip; of the
 * third, for the blocks of all threads. */
#define AMBIT__FIT_L2        0.75
#define AMBIT__FIT_L2_PLANES 0.6
#define AMBIT__FIT_L1        0.5
#define AMBIT__FIT_L3        0.5

/* Of the last cache: results that it keeps for the next step are not stored past it. 16 Xeon cores:
 * D2Q9 in 0.54 of it 0.47 ns per cell, past it 0.55; D3Q19 in 0.87 of it 2.5, past it 1.9. */
#define AMBIT__FIT_STAYS 0.75
/* Copies past the caches by ordinary ones, from which results are stored so: at 1 they take up to
 * 1.1 times as long (1-D, 16 bytes per cell, one core of a Cascade Lake). */
#define AMBIT__FIT_PAST 1.05

/* Threads for a launch in the second-level cache: operations by multiply-adds, rather more than
 * cores do, which leaves small launches to few threads; and the least share of the time of a launch
 * on all of them that is worth waking a thread for. 64^3 floats on 2 Neoverse cores. */
#define AMBIT__FIT_SMALL (118 / 85.)
#define AMBIT__FIT_WORTH (1000 / 1500.)

/* ---- GPUs, on an H200 ---- */

#define AMBIT__H200_COPY   4230.  /* bytes per ns, */
#define AMBIT__H200_FMA32  28000. /* multiply-adds per ns, */
#define AMBIT__H200_CHAIN  2.6    /* ns, */
#define AMBIT__H200_LAUNCH 2500.  /* ns */

/* One cell per thread, and strips through registers: catalogue stencils of 2 and 3 dimensions. */
#define AMBIT__FIT_CELLS (2075 / AMBIT__H200_COPY)
#define AMBIT__FIT_STRIP (4150 / AMBIT__H200_COPY)
/* Bytes in flight that keep memory busy: chains of the time that it takes to answer. Half as fast a
 * launch of few blocks: a plane, and an operation on the cells of a lane, in chains. */
#define AMBIT__FIT_FLIGHT (25600 * 132 / (AMBIT__H200_COPY * AMBIT__H200_CHAIN))
#define AMBIT__FIT_TURN   (200 / AMBIT__H200_CHAIN)
#define AMBIT__FIT_WORKED (0.58 / AMBIT__H200_CHAIN)

/* By how much a strip costs more: for each row that is loaded beyond twice; for bytes in tall
 * tiles; for each warp too few, in tiles, and where long sums are shifted; for warps that advance.
 * Of rings, for the rows beside a block's, and for planes ahead that are not the best number. With
 * these the estimate orders the plans of the catalogue's stencils as they were measured
 * (docs/notes/strips.md). */
#define AMBIT__FIT_LOADED      0.055
#define AMBIT__FIT_TALL        1.1
#define AMBIT__FIT_WARP        0.03
#define AMBIT__FIT_WARP_TILES  0.005
#define AMBIT__FIT_WARP_SHIFTS 0.045
#define AMBIT__FIT_ADVANCES    1.07
#define AMBIT__FIT_RING        1.1
#define AMBIT__FIT_RING_BESIDE 1.6
#define AMBIT__FIT_RING_AHEAD  0.01
/* The same in four dimensions and more, where a cell has six loads and more: multiply-adds in the
 * time of one. Stars of 4, 5 and 6 axes with 5.5, 7.5 and 9.5 of them: 3.28, 4.07 and 5.85 ps. */
#define AMBIT__FIT_LOADS (0.55e-3 * AMBIT__H200_FMA32)
/* Instructions of a division or root and of another function; those of a kernel that the cache of a
 * multiprocessor has room for. A rule with atan2, sin and cos in 48, 16, 8 copies: 39, 15.3 and
 * 14.2 ps per cell, with another step of 24. */
#define AMBIT__FIT_DIVIDES 8
#define AMBIT__FIT_CALLS   60
#define AMBIT__FIT_CODE    4096.
/* Work beside memory: operations of a rule by multiply-adds, as many are hidden; instructions of a
 * thread beside the rule, and for each value it reduces; and of the shorter of memory and work the
 * part that adds to the longer, over the blocks of a multiprocessor: one alone loads, then
 * computes. Fitted to about 600 plans of 86 programs: the estimate takes one within 5 % of the
 * fastest in 81, and 16 % at worst. */
#define AMBIT__FIT_WORKS  0.21
#define AMBIT__FIT_THREAD 100
#define AMBIT__FIT_FOLD   840
#define AMBIT__FIT_ALONE  1.2
/* Bytes of a layer of tiles that stay in the second-level cache, by its size. */
#define AMBIT__FIT_PANEL (16 / 60.)

/* Units of a sparse grid, of the best shape and of others: an order of plans, rather than times. */
#define AMBIT__FIT_SPARSE      (3000 / AMBIT__H200_COPY)
#define AMBIT__FIT_SPARSE_SLOW (2000 / AMBIT__H200_COPY)

/* Sweeps through shared memory: of the copy; in chains, a cell of a tile to copy and to store, and
 * one to compute beside its operations; by how much more memory takes for each halving of 128 bytes
 * in which lines across rows are accessed, and of 512 of a row. Sweeps with a line per thread: of
 * the copy; a cell that waits for memory, in chains; the part of it that is hidden; along rows, by
 * the time of other cells. Filters of 4000 and 32000 lines, of 4000 and 32000 cells, and of 512^3
 * along each axis. */
#define AMBIT__FIT_LINES       0.77
#define AMBIT__FIT_LINES_COPY  0.08
#define AMBIT__FIT_LINES_CELL  1.5
#define AMBIT__FIT_LINES_PART  0.5
#define AMBIT__FIT_LINES_ALONG 0.03
#define AMBIT__FIT_LINE        0.78
#define AMBIT__FIT_LINE_WAIT   16
#define AMBIT__FIT_LINE_HIDDEN 0.7
#define AMBIT__FIT_LINE_ROWS   4

/* Several iterations in one pass, in two dimensions and in three (deep): memory traffic, of which
 * in two dimensions most that is loaded again is in the second-level cache; multiply-adds in the
 * time of an instruction; of a barrier, and of a row that groups share. */
#define AMBIT__FIT_FLAT_COPY (5000 / AMBIT__H200_COPY)
#define AMBIT__FIT_DEEP_COPY (3900 / AMBIT__H200_COPY)
#define AMBIT__FIT_FLAT      (25.6e-6 * AMBIT__H200_FMA32)
#define AMBIT__FIT_DEEP      (38e-6 * AMBIT__H200_FMA32)
#define AMBIT__FIT_BARRIER   (120e-6 * AMBIT__H200_FMA32)
#define AMBIT__FIT_SHARED    (390e-6 * AMBIT__H200_FMA32)

/* Factors of that model, fitted together to the same plans (docs/design/0013-fused.md): time of the
 * code at faces per turn, in three dimensions per cell, in that of the fast code; strips at two
 * faces together, strips of a band of rows for one of the fast code, rows of a tile in a band and
 * beside it for one beside a tile; the part of a wave that is busy with faces while the longest
 * tile runs, and the most that is; of memory and instructions, the part of the shorter that adds to
 * the longer; for each warp too few; in instructions, those of a stage beside its rule, and to
 * pass a word from one value to another; fewer rows ahead than two, and more; in three dimensions,
 * few warps. */
#define AMBIT__FIT_EDGE        2
#define AMBIT__FIT_DEEP_EDGE   1.7
#define AMBIT__FIT_SIDES       2.5
#define AMBIT__FIT_BAND_STRIPS 2.2
#define AMBIT__FIT_BAND_ROWS   1.75
#define AMBIT__FIT_FACES_BUSY  0.3
#define AMBIT__FIT_MOST_BUSY   0.85
#define AMBIT__FIT_BESIDE      0.28
#define AMBIT__FIT_MISSING     0.054
#define AMBIT__FIT_STAGED      0.4
#define AMBIT__FIT_HANDED      2.2
#define AMBIT__FIT_AHEAD_FEW   1.15
#define AMBIT__FIT_AHEAD_MANY  0.97
#define AMBIT__FIT_FEW_WARPS   1.15
/* Instructions of a condition, beside a comparison and a selection, and of a look-up: conditions of
 * 6 programs took those of 7 to 10, look-ups of 2 programs 5 and 11. */
#define AMBIT__FIT_CHOICES 7
#define AMBIT__FIT_LOOKS   11
/* Waves of blocks for which some tiles take longer than others. */
#define AMBIT__FIT_UNEVEN 0.1

/* Grids that stay on the chip, in two dimensions and in three: time of an instruction of a warp, by
 * that of a multiply-add of all warps; of an exchange, of a unit and of a cell in it, in chains.
 * Fitted to 156 plans of 13 programs, of which the model chooses ones within 6 % of the fastest,
 * and to 122 plans of 11 programs, within 8 %; one within 20 %. Then, in instructions, a word that
 * a lane writes to shared memory or reads there; one in lanes of more than 16 bytes, whose accesses
 * conflict; in three dimensions, where all warps wait for shared memory, also one that lanes
 * exchange. A stage, for its barrier, in chains. */
#define AMBIT__H200_ISSUE (32 * 132 / AMBIT__H200_FMA32)
#define AMBIT__RESIDENT(issue, exchange, unit, cell)                                               \
  {                                                                                                \
    (issue) / AMBIT__H200_ISSUE, (exchange) / AMBIT__H200_CHAIN, (unit) / AMBIT__H200_CHAIN,       \
        (cell) / AMBIT__H200_CHAIN                                                                 \
  }
#define AMBIT__FIT_RESIDENT_FLAT AMBIT__RESIDENT(0.13, 550, 160, 100)
#define AMBIT__FIT_RESIDENT_DEEP AMBIT__RESIDENT(0.077, 230, 131, 69)
#define AMBIT__FIT_SHARE         (0.17 / AMBIT__H200_ISSUE)
#define AMBIT__FIT_CONFLICT      (0.6 / AMBIT__H200_ISSUE)
#define AMBIT__FIT_DEEP_SHARE    (0.5 / AMBIT__H200_ISSUE)
#define AMBIT__FIT_STAGE         (40 / AMBIT__H200_CHAIN)

/* Fitted with them: exchanges with fewer warps do not take much less; time beyond a share of the
 * registers, in two dimensions and in three; instructions for an operation, as some are fused. */
#define AMBIT__FIT_FEWER      0.8
#define AMBIT__FIT_MANY       0.9
#define AMBIT__FIT_TIGHT      1.3
#define AMBIT__FIT_DEEP_MANY  0.68
#define AMBIT__FIT_DEEP_TIGHT 1.15
#define AMBIT__FIT_FUSED      0.55

/* A step, by the time of a launch, whose estimates leave out the way of values from memory: 32^3
 * cells take 3.7 us. A fused launch must be estimated to be so much faster. */
#define AMBIT__FIT_STEP (3700 / AMBIT__H200_LAUNCH)
#define AMBIT__FIT_GAIN 1.1

#endif
