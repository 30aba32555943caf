# SPDX-License-Identifier: BSD-3-Clause
"""Common to the checks: the files of the project, tools of one version, and the exit code of a skip."""
import os, pathlib, re, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = "include src tools tests examples bench".split()
INPUT = re.compile(r"tests/(error/(?!test_)|fuzz/corpus/)")  # invalid kernels, on purpose
SKIP = 77  # ctest's SKIP_RETURN_CODE: skipped is not passed
CLANG_TOOLS = 14  # other versions of clang-format and clang-tidy give different results


def files(*folders, ext="ch"):
    """Files with these endings below these folders: tracked and not ignored, or all without git."""
    git = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *folders], cwd=ROOT,
                         capture_output=True, text=True)
    if git.returncode == 0:
        names = git.stdout.split("\n")
    else:
        names = [p.relative_to(ROOT).as_posix() for d in folders for p in (ROOT / d).rglob("*")]
    wanted = re.compile(rf".*\.[{ext}]$")
    names = {n for n in names if wanted.match(n) and not INPUT.match(n)}
    return sorted(ROOT / n for n in names if (ROOT / n).is_file())


def sample(paths, of):
    """Of these files, for make check: those of the last commit and of none yet, and one of so many of the others. All in make
    check-long, and without git."""
    def git(*words):
        r = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return None if r.returncode else {ROOT / name for name in r.stdout.split("\n")}

    changed, recent = git("diff", "--name-only", "HEAD"), git("log", "-1", "--name-only", "--format=")
    if "AMBIT_TEST_LONG" in os.environ or changed is None or recent is None:
        return paths
    return [p for i, p in enumerate(paths) if i % of == 0 or p in changed | recent]


def clang_tool(name):
    """The path of clang-format or clang-tidy in the required version. Skips the check if there is none."""
    for candidate in (f"{name}-{CLANG_TOOLS}", name):
        path = shutil.which(candidate)
        if path:
            out = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            found = re.search(r"version (\d+)", out)
            if found and int(found[1]) == CLANG_TOOLS:
                return path
    skip(f"{name} {CLANG_TOOLS} is not installed")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)
