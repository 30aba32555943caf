#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes python/ambit/_declarations.py, the public headers as ctypes, from include/*.h.

    generate.py           writes the file
    generate.py --check   fails if the file is not what the headers say

The C preprocessor expands the headers (so the X-macros of status codes and types need no code here); a parser of C
declarations reads the result. It knows what the headers use: enums, structs of numbers, pointers and arrays, types of
functions, prototypes. Anything else is an error, not a gap.
"""
import ast, os, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "python/ambit/_declarations.py"
NUMBERS = {
    "char": "c_char", "double": "c_double", "float": "c_float", "int": "c_int", "unsigned": "c_uint",
    "size_t": "c_size_t", "void": "None", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
}
TOKEN = re.compile(r"\s*([A-Za-z_]\w*|0[xX][0-9a-fA-F]+|\d+|\.\.\.|<<|.)", re.S)


def headers():
    return sorted((ROOT / "include").rglob("*.h"))


def preprocess(*flags):
    text = "".join(f'#include "{h}"\n' for h in headers())
    cc = os.environ.get("CC", "cc").split()
    return subprocess.run([*cc, "-E", *flags, "-I", str(ROOT / "include"), "-x", "c", "-"], input=text,
                          capture_output=True, text=True, check=True).stdout


def own_text():
    """The expanded text of the headers, without that of the system's."""
    ours, lines, folder = False, [], str(ROOT / "include")
    for line in preprocess().splitlines():
        mark = re.match(r'# \d+ "(.*?)"', line)
        if mark:
            ours = mark[1].startswith(folder)
        elif ours:
            lines.append(line)
    return re.sub(r'__attribute__\s*\(\(.*?\)\)\)?', "", "\n".join(lines).replace("__extension__", ""))


class Parser:
    def __init__(self, text):
        self.tokens = [t for t in TOKEN.findall(text) if t.strip()]
        self.at = 0
        self.types = {}       # name -> ctypes expression, "opaque" for handles
        self.lines = []       # of the output
        self.constants = {}
        self.functions = {}   # name -> (result, [(type, name)])
        self.structs = []

    def peek(self, n=0):
        return self.tokens[self.at + n] if self.at + n < len(self.tokens) else ""

    def take(self, *wanted):
        token = self.peek()
        if wanted and token not in wanted:
            near = " ".join(self.tokens[max(0, self.at - 12):self.at + 6])
            raise SystemExit(f"generate.py: expected {' or '.join(wanted)} in: {near}")
        self.at += 1
        return token

    def number(self):
        """A constant expression up to , or } or ]."""
        text, depth = "", 0
        while depth or self.peek() not in ",}]":
            depth += {"(": 1, ")": -1}.get(self.peek(), 0)
            text += " " + self.take()
        for name, value in self.constants.items():
            text = re.sub(rf"\b{name}\b", str(value), text)
        return constant(text)

    def enum(self):
        """After `enum`: its constants; the value is the type."""
        if self.peek() != "{":
            self.take()
        if self.peek() == "{":
            self.take("{")
            value = -1
            while self.peek() != "}":
                name = self.take()
                if self.peek() == "=":
                    self.take("=")
                    value = self.number()
                else:
                    value += 1
                self.constants[name] = value
                if self.peek() == ",":
                    self.take(",")
            self.take("}")
        return "c_int"

    def struct(self):
        name = self.take()
        if self.peek() != "{":
            return self.types.setdefault(name, "opaque")
        self.take("{")
        fields = []
        while self.peek() != "}":
            base = self.base()
            while True:
                kind, field = self.declarator(base)
                fields.append((field, kind))
                if self.take(",", ";") == ";":
                    break
        self.take("}")
        self.structs.append(name)
        self.types[name] = name
        self.lines += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        self.lines += [f'        ("{field}", {kind}),' for field, kind in fields] + ["    ]"]
        return name

    def base(self):
        """The type before declarators, with its qualifiers."""
        while self.peek() in ("const", "static", "extern", "inline"):
            self.take()
        word = self.take()
        if word == "enum":
            kind = self.enum()
        elif word == "struct":
            kind = self.struct()
        elif word == "unsigned" and self.peek() in ("char", "int", "long", "short"):
            kind = {"char": "c_ubyte", "int": "c_uint", "long": "c_ulong", "short": "c_ushort"}[self.take()]
        elif word in NUMBERS:
            kind = NUMBERS[word]
        elif word in self.types:
            kind = self.types[word]
        else:
            raise SystemExit(f"generate.py: unknown type {word}, before: {' '.join(self.tokens[self.at:self.at + 8])}")
        while self.peek() == "const":
            self.take()
        return kind

    def pointer(self, kind):
        return {"c_char": "c_char_p", "None": "c_void_p", "opaque": "c_void_p"}.get(kind, f"POINTER({kind})")

    def declarator(self, kind):
        """(type, name) of what follows: stars, a name or (*name)(parameters), array sizes."""
        while self.peek() in ("*", "const"):
            if self.take() == "*":
                kind = self.pointer(kind)
        if self.peek() == "(" and self.peek(1) == "*":
            self.at += 2
            name = self.take()
            self.take(")")
            kind = f"CFUNCTYPE({', '.join([value(kind)] + [k for k, _ in self.parameters()])})"
            return kind, name
        name = self.take() if re.match(r"[A-Za-z_]", self.peek()) else ""
        sizes = []
        while self.peek() == "[":
            self.take("[")
            sizes.append(self.number())
            self.take("]")
        for n in reversed(sizes):
            kind = f"({kind} * {n})"
        return kind, name

    def parameters(self):
        self.take("(")
        found = []
        if self.peek() == "void" and self.peek(1) == ")":
            self.take()
        while self.peek() != ")":
            kind, name = self.declarator(self.base())
            found.append((re.sub(r"^\((.*) \* \d+\)$", r"POINTER(\1)", value(kind)), name))
            if self.peek() == ",":
                self.take(",")
        self.take(")")
        return found

    def parse(self):
        while self.at < len(self.tokens):
            if self.peek() == ";":
                self.take()
            elif self.peek() == "typedef":
                self.take()
                kind, name = self.declarator(self.base())
                self.take(";")
                if kind.startswith("CFUNCTYPE"):
                    self.lines += ["", "", f"{name} = {kind}"]
                    kind = name
                self.types[name] = kind
            else:
                kind, name = self.declarator(self.base())
                if self.peek() == "(":
                    self.functions[name] = (value(kind), self.parameters())
                self.take(";")


def value(kind):
    return "c_void_p" if kind == "opaque" else kind


def constant(text):
    """An integer expression of C, in Python."""
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text).strip()
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)):
            raise ValueError(text)
    return eval(compile(tree, "constant", "eval"))  # numbers and operators only


def macros():
    """Constants that are macros: AMBIT_MAX_DIMS, AMBIT_ALL_FACES, ..."""
    found = {}
    for line in preprocess("-dM").splitlines():
        m = re.match(r"#define (AMBIT_[A-Z0-9_]+) (.+)", line)
        if m and not m[1].startswith("AMBIT__"):
            try:
                number = constant(m[2])
            except (ValueError, SyntaxError):
                continue
            found[m[1]] = number & 0xffffffff if "u" in m[2] else number
    return found


def made():
    p = Parser(own_text())
    p.parse()
    out = ["# SPDX-License-Identifier: BSD-3-Clause", '"""The public headers as ctypes. Made by python/generate.py: do not edit."""',
           "from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int16, c_int32,",
           "                    c_int64, c_size_t, c_ubyte, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)"]
    used = set(re.findall(r"c_\w+", "\n".join(p.lines) + str(p.functions)))
    names = sorted({"CFUNCTYPE", "POINTER", "Structure"} | used)
    out[2:] = wrap("from ctypes import (", ", ".join(names) + ")")
    out += [""] + [f"{k} = {v}" for k, v in sorted({**macros(), **p.constants}.items())]
    out += p.lines
    out += ["", "", f"STRUCTS = ({', '.join(p.structs)},)".replace("()", "") if p.structs else "STRUCTS = ()"]
    out += ["", "# name: (result, types of the parameters, names of the parameters)", "FUNCTIONS = {"]
    for name, (result, params) in sorted(p.functions.items()):
        kinds = "".join(f"{k}, " for k, _ in params)
        out.append(f'    "{name}": ({result}, ({kinds.strip()}), "{" ".join(n for _, n in params)}"),')
    return "\n".join(out + ["}", ""])


def wrap(head, text, width=118):
    lines, line = [], head
    for word in text.split(" "):
        if len(line) + len(word) > width:
            lines.append(line.rstrip())
            line = " " * len(head)
        line += word + " "
    return lines + [line.rstrip()]


def main():
    text = made()
    if "--check" in sys.argv[1:]:
        if not OUTPUT.is_file() or OUTPUT.read_text() != text:
            sys.exit("python/ambit/_declarations.py is not what include/ says; run python3 python/generate.py")
        return
    OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
