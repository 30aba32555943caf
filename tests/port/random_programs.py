# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of one to three files: what nests leave in variables, running sums, calls from file to file, host code between."""
import random

SIZE = 24
ARRAYS = {"a": "double", "b": "double", "c": "int", "p": "double", "q": "double"}  # p and q are pointers
FLAT = [n for n in ARRAYS]
SCALARS = {"x": "double", "y": "double", "s": "double", "m": "double", "n": "int", "any": "int", "at": "int"}
LOOPS = ["i", "j", "k"]


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.nfiles = self.r.choice([1, 1, 2, 2, 3])
        self.functions = []  # (file, name)

    def cond(self, chance):
        return self.r.random() < chance

    # ---- expressions, with subscripts that stay inside ----

    def number(self, subs):
        r = self.r
        name = r.choice(FLAT)
        kinds = [f"{name}[{s}]" for s in subs] + ["0.5", "2", "x", "y", "s", "n"]
        if "row" in self.have:
            kinds += [f"rows[{s} % 4][{s} % 6]" for s in subs[:1]]
        return r.choice(kinds)

    def expression(self, subs):
        r = self.r
        e = self.number(subs)
        for _ in range(r.randint(0, 2)):
            e = f"({e} {r.choice('+-*')} {self.number(subs)})"
        e = f"wrap({e})"
        return e

    def place(self, subs):
        return f"{self.r.choice(FLAT)}[{self.r.choice(subs)}]"

    # ---- nests ----

    def inner(self, v, subs):
        """The statements of a cell."""
        r = self.r
        out = []
        target = r.choice(FLAT)
        others = [n for n in FLAT if n != target]
        def read(reach=1):
            return f"{r.choice(others)}[{r.choice([v, f'{v} + 1', f'{v} - 1'] if reach else [v])}]"
        value = f"0.25 * ({read()} + {read()})" if ARRAYS[target] == "double" else f"({v} + (int){read()}) % 17"
        kind = r.randrange(11)
        if kind == 0:
            out.append(f"x = {value};")
            value = "x"
        elif kind == 1:
            out.append(f"at = {v} + 1;")
            value = f"{r.choice(others)}[at] * 0.5"
        elif kind == 2:
            value = f"(s += {read(0)} * 0.125)"
        elif kind == 3:
            value = f"m = fmax(m, {read(0)})"
        elif kind == 4:
            out.append(f"s += {read(0)} * 0.125;")
        elif kind == 5:
            out.append(f"if ({read(0)} > m) m = {read(0)};" if self.cond(0.3) else f"m = fmax(m, {read(0)});")
        elif kind == 6:
            out.append(r.choice(["n++;", f"n += {read(0)} > 1;", f"if ({read(0)} > 2) any = 1;", f"any |= {read(0)} > 3;"]))
        elif kind == 7 and self.counters:
            value = f"{r.choice(self.counters)}()"
        elif kind == 8 and self.pures:
            value = f"{r.choice(self.pures)}({read()}, {read()})"
        elif kind == 9:
            w = r.choice([u for u in LOOPS if u != v])
            out.append(f"y = 0;\n        for ({w} = -1; {w} <= 1; {w}++) y += {r.choice(others)}[{v} + {w}];")
            value = "y * 0.25"
        op = r.choice(["=", "=", "=", "+="])
        out.append(f"{target}[{v}] {op} {value};")
        if self.cond(0.1):
            out.append(f"{r.choice(FLAT)}[{v}] = {read()};")
        return out

    def nest(self):
        r = self.r
        v = r.choice(LOOPS)
        declared = "int " if self.cond(0.35) else ""
        lo, hi = r.choice([("1", "SIZE - 1"), ("1", "SIZE - 1"), ("2", "n1"), ("5", "5")])
        if self.cond(0.15):
            head = f"for ({declared}{v} = {hi} - 1; {v} >= {lo}; {v}--)"
        else:
            head = f"for ({declared}{v} = {lo}; {v} < {hi}; {v}{r.choice(['++', '++', '++', ' += 2'])})"
        body = self.inner(v, [v])
        pragma = "#pragma ambit\n" if self.cond(0.7) else ""
        if self.cond(0.2):  # rows
            w = r.choice([u for u in LOOPS if u != v])
            return (f"{pragma}    for ({declared}{v} = 0; {v} < 4; {v}++)\n      for ({declared}{w} = 0; {w} < 5; {w}++)\n"
                    f"        rows[{v}][{w}] = rows[{v}][{w} + 1] * 0.5 + {r.choice(['1', w, f'a[{w}]', f'rows[{v}][{w}]'])};\n")
        return f"{pragma}    {head} {{\n" + "".join(f"      {b}\n" for b in body) + "    }\n"

    # ---- host code ----

    def host(self):
        r = self.r
        v = r.choice(LOOPS + ["at", "n"])
        sub = f"IN({v})"
        kinds = [
            lambda: f"{r.choice(LOOPS)} = {r.randrange(5)};",
            lambda: f"{self.place([sub])} = {r.randrange(9)};",
            lambda: f"x = {self.place([sub])}; y = x + {r.randrange(3)};",
            lambda: f'printf("%d %d %d %.17g %.17g\\n", {", ".join(r.choice(LOOPS) for _ in range(3))}, x, {r.choice(["s", "m", "y"])});',
            lambda: f'printf("%d %d %d %.17g\\n", at, n, any, (double){self.place([sub])});',
            lambda: "s = 0; m = -1e9;",
            lambda: f"n = any = 0;",
            lambda: f"at = {r.randrange(4)};",
            lambda: f"if ({self.place([sub])} > 2) {self.place(['3'])} += 1;",
            lambda: "{ double *w = p; p = q; q = w; }",
            lambda: f"memcpy(p, {r.choice(['q', 'a'])}, SIZE * sizeof *p);",
            lambda: f"for (int h = 0; h < 3; h++) {self.place(['h'])} += rows[h][1];",
            lambda: f"switch ({v} % 3) {{ case 0: x = 1; break; case 1: y = 2; default: at = 2; }}",
        ]
        if self.peaks:
            peak = lambda: f"{r.choice(self.peaks)}({r.choice(['p', 'q', 'a', 'b'])})"
            kinds += 2 * [
                lambda: f"{self.place([sub])} = {peak()} * 0.5;",
                lambda: f"{self.place([sub])} += {peak()} - {self.place(['2'])};",
                lambda: f"if ({peak()} > 2 && {self.place([sub])} > 1) {self.place([sub])} -= 1;",
                lambda: f"x = {peak()}, y = {self.place(['3'])};",
                lambda: f"{{ double z = {peak()}, d = {self.place([sub])}; x += z - d; }}",
            ]
        return f"    {r.choice(kinds)()}\n"

    def call(self):
        return f"    {self.r.choice(self.works)}({self.r.choice(['p, q', 'a, b', 'q, a', 'b, b', 'p, a'])}, {self.r.randint(0, 2)});\n"

    def body(self, length):
        r = self.r
        out = ""
        for _ in range(length):
            out += self.nest() if self.cond(0.5) else self.call() if self.works and self.cond(0.3) else self.host()
        return out

    def function(self, name):
        """Arrays by parameter; scalars of its own."""
        local = "  double x = 1, y = 2, s = 0, m = -1e9;\n  int i = 0, j = 0, k = 0, at = 1, n = 0, any = 0, n1 = SIZE - 2;\n"
        kept = "  g_count += n + any + i + j + k + at; g_sum += x + y + s + m * 1e-6;\n"
        return (f"void {name}(double *p, double *q, int times)\n{{\n{local}  if (p == q) return;\n  for (int t = 0; t < times; t++) {{\n"
                f"{self.body(self.r.randint(1, 4))}    if (t == 1 && n > {self.r.randint(0, 40)}) continue;\n{self.body(self.r.randint(0, 2))}  }}\n{kept}}}\n")

    def file(self, index):
        r = self.r
        self.have = ["row"]
        out = '#include "common.h"\n'
        defines = index == self.nfiles - 1
        if defines:
            out += "double a[SIZE], b[SIZE], *p, *q, **rows, g_sum;\nint c[SIZE], g_count;\n"
        counters, pures, works, peaks = [], [], [], []
        for k in range(r.randint(0, 1)):
            out += f"static int ticks_{index};\nint tick_{index}(void)\n{{\n  return {r.choice([f'++ticks_{index}', f'ticks_{index} += 2', f'ticks_{index}++'])};\n}}\n"
            counters.append(f"tick_{index}")
        if self.cond(0.6):
            out += f"double mix_{index}(double u, double v)\n{{\n  double d = u - v;\n  if (d < 0) d = -d;\n  return 0.5 * d{r.choice(['', ' + 1', f' + SIZE'])};\n}}\n"
            pures.append(f"mix_{index}")
        if self.cond(0.6):
            change = r.choice(["", "", "#pragma ambit\n  for (int i = 1; i < SIZE; i++)\n    p[i] = p[i] * 0.75 + 0.25;\n"])
            out += (f"double peak_{index}(double *p)\n{{\n  double m = -1e9;\n{change}#pragma ambit\n  for (int i = 0; i < SIZE; i++)\n"
                    f"    m = fmax(m, p[i]);\n  return m;\n}}\n")
            peaks.append(f"peak_{index}")
        for k in range(r.randint(0, 2) if index < self.nfiles - 1 else r.randint(0, 1)):
            self.counters, self.pures, self.works, self.peaks = (
                known + new for known, new in zip(self.all, (counters, pures, works, peaks)))
            if self.cond(0.2):
                out += f"/* A remark\n * above {k}.\n */\n"
            out += self.function(f"work_{index}_{k}")
            works.append(f"work_{index}_{k}")
        for known, new in zip(self.all, (counters, pures, works, peaks)):
            known.extend(new)
        self.counters, self.pures, self.works, self.peaks = self.all
        if defines:
            out += ("int main(void)\n{\n  double x = 1, y = 2, s = 0, m = -1e9;\n  int i = 0, j = 0, k = 0, at = 1, n = 0, any = 0, n1 = SIZE - 1;\n"
                    "  p = malloc(SIZE * sizeof *p);\n  q = malloc(SIZE * sizeof *q);\n  rows = malloc(4 * sizeof *rows);\n"
                    "  for (int r = 0; r < 4; r++) {\n    rows[r] = malloc(6 * sizeof **rows);\n    for (int h = 0; h < 6; h++) rows[r][h] = r + h;\n  }\n"
                    "  for (int h = 0; h < SIZE; h++) a[h] = h % 5, b[h] = h % 7, c[h] = h % 3, p[h] = h % 4, q[h] = h % 6;\n"
                    f"  for (int t = 0; t < {r.randint(1, 4)}; t++) {{\n{self.body(r.randint(3, 7))}")
            if self.cond(0.3):
                out += f"    if (n > {r.randint(0, 60)}) {r.choice(['break', 'continue'])};\n{self.body(1)}"
            out += "  }\n" + self.body(r.randint(0, 2))
            out += '  printf("%d %d %d %d %d %d %d %.17g\\n", i, j, k, at, n, any, g_count, g_sum + x + y + s + m);\n'
            out += '  for (int h = 0; h < SIZE; h++) printf("%.17g %.17g %d %.17g %.17g %.17g\\n", a[h], b[h], c[h], p[h], q[h], rows[h % 4][h % 6]);\n'
            out += "  return 0;\n}\n"
        return out

    def files(self):
        """By name; the last one has main."""
        self.all = [], [], [], []
        texts = {f"part{i}.c": self.file(i) for i in range(self.nfiles)}
        head = ("#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                f"#define SIZE {SIZE}\n#define IN(v) (((v) % SIZE + SIZE) % SIZE)\n"
                "extern double a[SIZE], b[SIZE], *p, *q, **rows, g_sum;\nextern int c[SIZE], g_count;\n")
        head += "".join(f"int {n}(void);\n" for n in self.all[0]) + "".join(f"double {n}(double u, double v);\n" for n in self.all[1])
        head += "".join(f"void {n}(double *p, double *q, int times);\n" for n in self.all[2])
        head += "".join(f"double {n}(double *p);\n" for n in self.all[3])
        texts["common.h"] = head
        return texts
