#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The files around the sources agree with them: one version and one date everywhere, a citation with the fields that it needs, and a
workflow that names only targets, presets, scripts and builds that exist, and all builds of run_matrix.py.
"""
import datetime, email.utils, json, re, sys

import project
import run_matrix

try:
    import yaml
except ImportError:
    project.skip("PyYAML is not installed")


def text(path):
    return (project.ROOT / path).read_text()


def version():
    numbers = re.findall(r"^#define AMBIT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text("include/ambit.h"), re.M)
    return ".".join(numbers)


# Files that repeat the version of ambit.h: the expression whose group is the version.
VERSIONS = {
    "CHANGELOG.md": r"^## (\S+)",
    "CITATION.cff": r"^version: (\S+)",
    "packaging/conda/recipe.yaml": r'version: "([^"]+)"',
    "packaging/debian/changelog": r"^ambit \((.*)-\d+\)",
    "packaging/spack/package.py": r'version\("(\d[^"]*)"',
    "docs/tool.md": r"^ +ambit +(\d\S+)$",
}


def version_faults():
    want = version()
    for path, pattern in VERSIONS.items():
        found = re.search(pattern, text(path), re.M)
        if not found or found[1] != want:
            yield f"{path} is about version {found and found[1]}, include/ambit.h about {want}"
    for path in "CMakeLists.txt", "pyproject.toml":  # which read the header
        if "include/ambit.h" not in text(path) or re.search(r'VERSION \d+\.\d+\.\d|^version *= *"', text(path), re.M):
            yield f"{path} states a version instead of reading that of include/ambit.h"
    regex = re.search(r"^regex = '''(.*)'''", text("pyproject.toml"), re.M)[1]
    if ".".join(re.search(regex, text("include/ambit.h")).groups()) != want:
        yield f"the expression in pyproject.toml does not find version {want} in include/ambit.h"
    for symbol, since in re.findall(r"^ (\w+)@Base (\S+)", text("packaging/debian/libambit0.symbols"), re.M):
        if tuple(map(int, since.split("."))) > tuple(map(int, want.split("."))):
            yield f"packaging/debian/libambit0.symbols: {symbol} is of version {since}, later than {want}"


def date_faults():
    """Of a version that is released, CHANGELOG.md says the day."""
    said = re.search(r"^## \S+ \((.*)\)", text("CHANGELOG.md"), re.M)[1]
    debian = text("packaging/debian/changelog")
    if said.startswith("not"):
        return
    day = datetime.datetime.strptime(said, "%d %B %Y").date()
    cited = str(yaml.safe_load(text("CITATION.cff")).get("date-released"))
    packed = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.*)", debian, re.M)[1]).date()
    for path, found in ("CITATION.cff", cited), ("packaging/debian/changelog", str(packed)):
        if found != str(day):
            yield f"CHANGELOG.md says {day} of the newest version, {path} {found}"
    if "UNRELEASED" in debian.split("\n")[0]:
        yield "packaging/debian/changelog has UNRELEASED for a version that CHANGELOG.md gives a date"


def citation_faults():
    cff = yaml.safe_load(text("CITATION.cff"))
    for key in "cff-version message title authors version license".split():
        if not cff.get(key):
            yield f"CITATION.cff has no {key}"
    released = re.search(r"^## \S+ \((.*)\)", text("CHANGELOG.md"), re.M)[1]
    if ("date-released" in cff) == released.startswith("not"):
        yield f"CHANGELOG.md says '{released}' of the newest version, and CITATION.cff differs in whether it is released"


def makefile_targets():
    return set(re.findall(r"^([\w-]+):", text("Makefile"), re.M))


def presets():
    listed = json.loads(text("CMakePresets.json"))
    return {p["name"] for p in listed["configurePresets"]}


def runs(job):
    return "\n".join(step.get("run", "") for step in job["steps"])


def workflow_faults(path):
    flow = yaml.safe_load(text(path))
    for name, job in flow["jobs"].items():
        if not job.get("runs-on") or not any("run" in step for step in job["steps"]):
            yield f"{path}: job {name} has no system or runs nothing"
        commands = runs(job)
        for target in re.findall(r"\bmake ([a-z][\w-]*)", commands):
            if target not in makefile_targets():
                yield f"{path}: job {name} makes {target}, and the Makefile has no such target"
        for preset in re.findall(r"--preset[ =](\S+)", commands):
            if preset not in presets():
                yield f"{path}: job {name} uses preset {preset}, which does not exist"
        for script in re.findall(r"(?<![\w/.])((?:scripts|tests|packaging)/[\w./-]+)", commands):
            if not (project.ROOT / script).is_file():
                yield f"{path}: job {name} runs {script}, which does not exist"
    variants = flow["jobs"]["matrix"]["strategy"]["matrix"]["variant"]
    for variant in set(variants) ^ set(run_matrix.VARIANTS):
        yield f"{path} and tests/meta/run_matrix.py differ in whether there is a build '{variant}'"


def matrix_faults():
    """Options that CMake does not know would be ignored, with a warning at most."""
    cmake = "".join(f.read_text() for f in [project.ROOT / "CMakeLists.txt", *(project.ROOT / "cmake").glob("*.cmake")])
    known = set(re.findall(r"(?:option|set)\((\w+)", cmake)) | {f"AMBIT_{n}" for n in re.findall(r"ambit_feature\((\w+)", cmake)}
    for variant, (options, _) in run_matrix.VARIANTS.items():
        for name in (re.match(r"-D(\w+)=", option)[1] for option in options):
            if name not in known and not name.startswith("CMAKE_"):
                yield f"tests/meta/run_matrix.py: {variant} sets {name}, which no CMake file has"


def main():
    workflows = [f.relative_to(project.ROOT).as_posix() for f in (project.ROOT / ".github/workflows").glob("*.yml")]
    if not workflows:
        sys.exit("there is no workflow in .github/workflows")
    found = [*version_faults(), *date_faults(), *citation_faults(), *matrix_faults()]
    for path in workflows:
        found += workflow_faults(path)
    print("\n".join(found) or f"version {version()}, {len(workflows)} workflows, {len(run_matrix.VARIANTS)} builds")
    return bool(found)


sys.exit(main())
