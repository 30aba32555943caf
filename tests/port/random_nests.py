# SPDX-License-Identifier: BSD-3-Clause
"""Random programs with loop nests, legal or not: the translator must get each right or leave it serial."""
import random


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.more = random.Random(-1 - seed) # of lines: programs of older seeds stay as they were
        r = self.r
        self.dims = r.choice([1, 2, 2, 2, 3])
        self.type = r.choice(["double", "double", "float", "int"])
        self.form = r.choice(["static", "flat", "flat", "param", "rows" if self.dims == 2 else "flat"])
        self.sizes = [r.randint(9, 17) for _ in range(self.dims)]
        self.names = ["a", "b", "c"][: r.randint(2, 3)]
        self.loops = ["i", "j", "k"][: self.dims]

    def at(self, name, index):
        """An element, in the form of the program."""
        if self.form == "flat":
            text = index[0]
            for d in range(1, self.dims):
                text = f"({text}) * n{d} + {index[d]}"
            return f"{name}[{text}]"
        return name + "".join(f"[{x}]" for x in index)

    def offset(self, d, reach):
        o = self.r.randint(-reach, reach)
        return self.loops[d] if o == 0 else f"{self.loops[d]} {'-' if o < 0 else '+'} {abs(o)}"

    def guarded(self, d):
        v, n = self.loops[d], f"n{d}"
        return self.r.choice([f"({v} + 1) % {n}", f"({v} + {n} - 1) % {n}", f"({v} == 0 ? 0 : {v} - 1)", f"({v} < {n} - 1 ? {v} + 1 : {n} - 1)",
                              f"({v} == 0 ? {n} - 1 : {v} - 1)"])

    def read(self, name, reach, whole):
        if whole:
            return self.at(name, [self.guarded(d) if self.r.random() < 0.4 else self.loops[d] for d in range(self.dims)])
        return self.at(name, [self.offset(d, reach) for d in range(self.dims)])

    def expression(self, reads):
        r = self.r
        terms = []
        for e in reads:
            c = r.choice(["", "2 * ", "3 * "] if self.type == "int" else ["", "0.5f * ", "0.25 * ", "1.5f * "])
            terms.append(c + e)
        text = " + ".join(terms)
        if r.random() < 0.2:
            text = f"({terms[0]} > 1 ? {text} : {terms[-1]} - 1)"
        if r.random() < 0.2:
            text += f" - {r.choice(self.loops)}"
        return f"({text}) / {r.choice([2, 3, 4])}"

    def nest(self):
        r = self.r
        reach = r.choice([1, 1, 1, 2])
        whole = r.random() < 0.25
        target = r.choice(self.names)
        sources = [n for n in self.names if n != target] if r.random() < 0.85 else self.names
        order = list(range(self.dims))
        if r.random() < 0.3:
            r.shuffle(order)
        lines, pad = [], "    "
        for d in order:
            v, lo, hi = self.loops[d], ("0" if whole else str(reach)), (f"n{d}" if whole else f"n{d} - {reach}")
            step = "++" if r.random() < 0.9 or whole else " += 2"
            if r.random() < 0.1 and step == "++":
                lines.append(f"{pad}for (int {v} = {hi} - 1; {v} >= {lo}; {v}--)")
            else:
                lines.append(f"{pad}for (int {v} = {lo}; {v} < {hi}; {v}{step})")
            pad += "  "
        body = []
        value = self.expression([self.read(r.choice(sources), reach, whole) for _ in range(r.randint(1, 4))])
        if r.random() < 0.3:
            body.append(f"{self.type} x = {value};")
            value = "x"
        own = self.at(target, self.loops)
        op = r.choice(["=", "=", "=", "+="])
        statement = f"{own} {op} {value};"
        if r.random() < 0.2:
            statement = f"if (({r.choice(self.loops)} + {r.randint(0, 2)}) % 2 == 0) {statement}"
        body.append(statement)
        if r.random() < 0.25:
            extra = r.choice(["s += {0};", "if ({0} > m) m = {0};", "m = {0} > m ? {0} : m;", "if ({0} > 2) count++;"])
            body.append(extra.format(own))
        if r.random() < 0.15:  # a second place
            other = [self.offset(d, reach) for d in range(self.dims)] if not whole else self.loops
            body.append(f"{self.at(r.choice(self.names), other)} = {self.expression([self.read(r.choice(self.names), reach, whole)])};")
        return "\n".join(lines) + " {\n" + "".join(f"{pad}{b}\n" for b in body) + pad[:-2] + "}\n"

    def lines(self, r):
        """Recurrences along one axis: cells of the array itself, a variable, an array of one line."""
        d, (target, source) = r.randrange(self.dims), r.sample(self.names, 2)
        back = r.choice([1, 1, 2, 3])
        outer = [e for e in range(self.dims) if e != d]
        if r.random() < 0.3:
            outer.reverse()
        head = "".join(f"    for (int {self.loops[e]} = 1; {self.loops[e]} < n{e}; {self.loops[e]}++)\n" for e in outer)
        v, n, rise = self.loops[d], f"n{d}", r.random() < 0.6
        at = lambda name, by: self.at(name, [f"{x} {'-' if by < 0 else '+'} {abs(by)}" if e == d and by else x for e, x in enumerate(self.loops)])
        by = -back if rise else back
        up, down = f"for (int {v} = {back}; {v} < {n}; {v}++)", f"for (int {v} = {n} - {back} - 1; {v} >= 0; {v}--)"
        along = up if rise else down
        kind = r.choice(["array", "array", "variable", "line"])
        if kind == "array":
            near = at(target, r.choice([by, -by])) if r.random() < 0.3 else at(source, 0)
            text = [f"    for (int {v} = {back}; {v} < {n} - {back}; {v}++)" if rise else f"    for (int {v} = {n} - {back} - 1; {v} >= {back}; {v}--)",
                    f"      {at(target, 0)} = ({at(target, by)} + {near}) / {r.choice([2, 3])};"]
        elif kind == "variable":
            text = [f"    {{ {self.type} x = {r.choice(['0', '1', '2'])};", f"    {along} {{",
                    f"      x = (x + {at(source, 0)}) / 2;", f"      if (x > {r.choice([3, 5])}) x -= 1;", f"      {at(target, 0)} {r.choice(['=', '+='])} x; }} }}"]
        else:
            text = [f"    {{ {self.type} x[20];", f"    for (int {v} = 0; {v} < {back}; {v}++) x[{v}] = {at(source, 0)};" if r.random() < 0.5 or back > 1 else "    x[0] = 1;",
                    f"    {up} x[{v}] = (x[{v} - {back}] + {at(source, 0)}) / 2;",
                    f"    {down} {at(target, 0)} = (x[{v}] + {at(target, back)}) / 3; }}"]
        return head + "\n".join(text) + "\n" if outer else ""

    def edge(self):
        r = self.r
        d = r.randrange(self.dims)
        name = r.choice(self.names)
        to, back = r.choice([("0", "1"), (f"n{d} - 1", f"n{d} - 2"), ("0", f"n{d} - 2"), (f"n{d} - 1", "1")])
        loops = [e for e in range(self.dims) if e != d]
        text, pad = "", "    "
        for e in loops:
            text += f"{pad}for (int {self.loops[e]} = 0; {self.loops[e]} < n{e}; {self.loops[e]}++)\n"
            pad += "  "
        at = lambda x: self.at(name, [x if e == d else self.loops[e] for e in range(self.dims)])
        return f"{text}{pad}{at(to)} = {at(back)};\n" if loops else ""

    def text(self):
        r, dims = self.r, self.dims
        total = " * ".join(f"(n{d})" for d in range(dims))
        declare = {
            "static": lambda n: f"static {self.type} {n}" + "".join(f"[{s}]" for s in self.sizes) + ";",
            "param": lambda n: f"static {self.type} {n}_" + "".join(f"[{s}]" for s in self.sizes) + ";",
            "flat": lambda n: f"static {self.type} *{n};",
            "rows": lambda n: f"static {self.type} **{n};",
        }[self.form]
        shown = {"static": "{0}", "param": "{0}_", "flat": "{0}", "rows": "{0}[0]"}[self.form]
        out = ['#include "show.h"', "#include <stdlib.h>", *map(declare, self.names)]
        params = ", ".join(f"int n{d}" for d in range(dims))
        if self.form == "param":
            params += "".join(f", {self.type} {n}" + "".join(f"[{s}]" for s in self.sizes) for n in self.names)
        body = []
        for _ in range(r.randint(1, 3)):
            body.append(self.nest())
        for _ in range(r.randint(0, 2)):
            body.insert(r.randint(0, len(body)), self.edge())
        if self.form in ("flat", "rows") and r.random() < 0.5:
            star = "*" if self.form == "flat" else "**"
            body.append(f"    {self.type} {star}swap = a; a = b; b = swap;\n")
        if r.random() < 0.25:
            first = self.at("a", [str(r.randint(0, s - 1)) for s in self.sizes])
            body.append(f"    if (t == 1) {first} += 1;\n")
        for _ in range(self.more.choice([0, 1, 2])):
            body.append(self.lines(self.more))
        zero = "double s = 0; double m = -1e30; int count = 0;"
        out.append(f"static void work({params})\n{{\n  {zero}\n#pragma ambit\n  for (int t = 0; t < {r.randint(2, 5)}; t++) {{\n{''.join(body)}  }}\n"
                   '  printf("%.17g %.17g %d\\n", s, m, count);\n}\n')
        out.append("int main(void)\n{")
        out.append("  int " + ", ".join(f"n{d} = {s}" for d, s in enumerate(self.sizes)) + ";")
        for q, n in enumerate(self.names):
            if self.form == "flat":
                out.append(f"  {n} = malloc(sizeof *{n} * {total});")
            if self.form == "rows":
                out.append(f"  {n} = malloc(sizeof *{n} * n0);\n  {n}[0] = malloc(sizeof **{n} * {total});")
                out.append(f"  for (int i = 1; i < n0; i++) {n}[i] = {n}[0] + i * n1;")
            cell = f"(({self.type} *){shown.format(n)})[q]"
            out.append(f"  for (int q = 0; q < {total}; q++) {cell} = ({self.type})((q * {7 + 4 * q} + {q}) % 13) * ({self.type})0.5f;" if self.type != "int"
                       else f"  for (int q = 0; q < {total}; q++) {cell} = (q * {7 + 4 * q} + {q}) % 13;")
        args = ", ".join(f"n{d}" for d in range(dims))
        if self.form == "param":
            args += "".join(f", {n}_" for n in self.names)
        out.append(f"  work({args});")
        for n in self.names:
            out.append(f'  show("{n}", {shown.format(n)}, sizeof({self.type}) * {total});')
        out.append("  return 0;\n}")
        return "\n".join(out) + "\n"
