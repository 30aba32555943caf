#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Man pages and completion: what the help has, in the form that man and the shells read."""
import re, shutil, subprocess

import tool


def _commands():
    """All but help, which is no row of the table."""
    return [c for c in re.findall(r"(?m)^  (\w+) +[A-Z]", tool.run("--help")[0]) if c != "help"]


def _options(command):
    return re.findall(r"(?m)^  (?:-\w,|   ) (--[\w-]+)", tool.run(command, "--help")[0])


def _complete(*words):
    """What bash offers for the last of the words."""
    if not shutil.which("bash"):
        raise tool.Skipped("there is no bash")
    script = tool.run("completion", "bash")[0]
    listed = " ".join(f"'{w}'" for w in words)
    script += f"\nCOMP_WORDS=({listed})\nCOMP_CWORD={len(words) - 1}\n_ambit\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    run = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True)
    assert run.returncode == 0 and not run.stderr, run.stderr
    return run.stdout.split()


def every_command_has_a_man_page_with_all_its_options():
    found = _commands()
    assert len(found) >= 9 and "run" in found, found
    for c in found:
        page = tool.run("help", "--man", c)[0].replace("\\-", "-")
        assert page.startswith(f".TH AMBIT-{c.upper()} 1 "), page[:80]
        for option in _options(c):
            assert f"\\fB{option}\\fR" in page, (c, option)
        assert ".SH EXAMPLES" in page, c
    page = tool.run("help", "--man")[0]
    assert page.startswith(".TH AMBIT 1 ") and "AMBIT_THREADS" in page and "AMBIT_CHECKPOINT_EVERY" in page
    tool.refuses("help", "--man", "rnu", saying="did you mean 'run'?")


def man_reads_the_pages_without_a_complaint():
    man = shutil.which("groff") or shutil.which("mandoc")
    if not man:
        raise tool.Skipped("there is neither groff nor mandoc")
    checks = ["-man", "-Tutf8", "-ww", "-z"] if man.endswith("groff") else ["-T", "lint", "-W", "error"]
    for c in [None, *_commands()]:
        page = tool.run("help", "--man", *([c] if c else []))[0]
        run = subprocess.run([man, *checks], input=page, capture_output=True, text=True)
        assert run.returncode == 0 and not run.stderr + run.stdout, (c, run.stderr + run.stdout)
        assert not re.search(r"\.PP\n\.SH|\.SH [A-Z ]+\n\.PP", page), (c, "a paragraph is empty")


def bash_completes_commands_options_stencils_and_options_of_the_library():
    assert _complete("ambit", "ex") == ["explain"]
    assert sorted(_complete("ambit", "")) == sorted([*_commands(), "help", "--help", "--version"])
    for c in _commands():
        assert set(_complete("ambit", c, "--")) == {*_options(c), "--help", "--ambit-"}, c
    assert "2d4" in _complete("ambit", "run", "2d")
    assert _complete("ambit", "run", "2d4", "--ambit-thr") == ["--ambit-threads="]
    assert _complete("ambit", "run", "2d4", "--output", "2d") == [], "the value of an option is a file"
    assert _complete("ambit", "help", "ben") == ["bench"]


def zsh_reads_its_completion():
    if not shutil.which("zsh"):
        raise tool.Skipped("there is no zsh")
    text = tool.run("completion", "zsh")[0]
    run = subprocess.run(["zsh", "-n"], input=text, capture_output=True, text=True)
    assert run.returncode == 0 and not run.stderr, run.stderr
    for c in _commands():
        assert f"  {c})" in text, c
        assert all(option in text for option in _options(c)), c
    words = "autoload -U compinit; compinit -u -D; eval \"$text\"; print -l ${_comps[ambit]}"
    run = subprocess.run(["zsh", "-f", "-c", words], env={"text": text, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert run.stdout.strip() == "_ambit", run.stdout + run.stderr


def other_shells_are_refused():
    tool.refuses("completion", "fish", saying=["'fish'", "bash or zsh"])
    tool.refuses("completion", saying="bash or zsh")


tool.main(globals())
