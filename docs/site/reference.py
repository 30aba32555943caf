# SPDX-License-Identifier: BSD-3-Clause
"""The reference of all calls as a page, from the comments and declarations of the headers."""
import re

SECTION = re.compile(r"/\* -{2,} (.*?) -{2,} \*/")
NAME = re.compile(r"\b(ambit\w*)\s*\(")


def version(header):
    return ".".join(re.findall(r"^#define AMBIT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text(), re.M))


def comment_text(comment):
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip()[2:-2].split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip()


def blocks(text):
    """(comment, declarations): a comment that begins a line, and the lines up to the next one."""
    at = [m.start() for m in re.finditer(r"^/\*", text, re.M)]
    for start, end in zip(at, [*at[1:], len(text)]):
        stop = text.index("*/", start) + 2
        yield text[start:stop], text[stop:end].strip("\n")


def names(code):
    """Of the functions, types and macros that a block declares."""
    found = [m[1] for line in re.findall(r"AMBIT_API[^;]*;", code, re.S) if (m := NAME.search(line))]
    found += re.findall(r"^\} (ambit_\w+);", code, re.M) + re.findall(r"^typedef [^;{]*\(\*(ambit_\w+)\)", code, re.M)
    found += re.findall(r"^#\s*define (AMBIT_[A-Z]+(?:_[A-Z]+)*)\b", code, re.M)
    return list(dict.fromkeys(n for n in found if not n.startswith("AMBIT__")))


def markdown(text):
    """Prose with names as code; lines that are laid out keep their form."""
    out = []
    for paragraph in re.split(r"\n\s*\n", text):
        if re.search(r"(?m)^ {2,}\S", paragraph):
            out.append("```\n" + paragraph + "\n```")
        else:
            out.append(re.sub(r"(?<![`\w])(ambit(?:_\w+)?\.h\b|ambit_\w+|AMBIT_\w+|--ambit-[\w*]+)", r"`\1`", paragraph).replace("*/", "").replace("<", "&lt;"))
    return "\n\n".join(out)


def section_of(text):
    """The page of one header below its first comment, and the number of its functions."""
    out, functions = [], 0
    for comment, code in blocks(text):
        section = SECTION.match(comment)
        if section:
            out.append(f"## {section[1][0].upper()}{section[1][1:]}")
            code, comment = code.strip("\n"), ""
        declared = names(code)
        functions += sum(not n.startswith("AMBIT") for n in declared)
        if declared:
            out.append("### " + ", ".join(f"`{n}`" for n in declared))
        if comment:
            out.append(markdown(comment_text(comment)))
        if code and ("AMBIT_API" in code or "typedef" in code or "#define" in code):
            out.append(f"```c\n{re.sub(r'AMBIT_API ', '', code)}\n```")
    return out, functions


def write(header, page):
    text = header.read_text()
    head = comment_text(re.search(r"/\* ambit\.h - .*?\*/", text, re.S)[0])
    out, functions = section_of(text[text.index("/* ---- "):])
    for other in sorted(header.parent.glob("ambit_*.h")):
        text = re.sub(r"#ifdef __cplusplus.*?#endif", "", other.read_text(), flags=re.S).replace("\n#endif\n", "")
        intro = comment_text(re.search(r"/\* ambit_\w+\.h - (.*?\*/)", text, re.S)[0])
        more, n = section_of(text[text.index('#include "ambit.h"'):])
        out += [f"## {other.name}", markdown(intro.partition(" - ")[2]), *more]
        functions += n
    first = f"# Reference\n\nAll calls of `ambit.h`, version {version(header)}, and of the headers beside it. Made from the headers.\n"
    page.write_text("\n\n".join([first, markdown(head), *out]) + "\n")
    return functions
