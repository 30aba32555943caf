#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page of the view in a real browser, used as people use it: buttons, lists, keys, pointer, wheel.

    check_browser.py path/to/ambit [folder for screenshots]

It needs Chromium, and the Python of `scripts/setup check-all` with Playwright; without them, exit status 77 (skipped).
"""
import os, pathlib, re, shutil, subprocess, sys, tempfile, time

AMBIT = os.path.abspath(sys.argv[1])
PYTHON = pathlib.Path(__file__).resolve().parents[2] / "build/python/bin/python"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    if os.environ.get("CHECK_PYTHON") or not PYTHON.exists() or not CHROMIUM:
        print("skipped: there is no Chromium, or no build/python with Playwright; scripts/setup check-all gets both")
        sys.exit(77)
    os.execve(PYTHON, [str(PYTHON), "-B", *sys.argv], {**os.environ, "CHECK_PYTHON": "1"})

KERNEL = """
void wave(const float *u, float *v, max float *top)
{
  *v = 0.25f * (u[-1][0][0] + u[1][0][0] + u[0][-1][0] + u[0][1][0]);
  *top = *v;
}
"""


def start(folder):
    path = pathlib.Path(folder, "wave.c")
    path.write_text(KERNEL)
    p = subprocess.Popen([AMBIT, "run", path, "--size", "40x60x80", "--steps", "1000000000", "--boundary", "periodic", "-q", "--view=http"],
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        m = re.search(r"http://\S+", line)
        if m:
            return p, m[0]
    raise AssertionError("no address was printed")


def soon(check, what, seconds=200):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def number(page):
    return int(re.sub(r"\D", "", page.inner_text("#iteration").split(" of ")[0]) or 0)


def pixels(page):
    """The distinct colours of the picture, about."""
    return page.evaluate("""() => { const c = document.getElementById('picture'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, s = new Set();
        for (let i = 0; i < d.length; i += 4 * 97) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return [...s]; }""")


def use(page, url, process):
    faults = []
    page.on("pageerror", lambda e: faults.append(str(e)))
    page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
    asked = []
    page.on("request", lambda r: asked.append(r.url))
    page.goto(url)
    soon(lambda: number(page) > 0, "no picture")
    first = number(page)
    soon(lambda: number(page) > first, "iterations do not go on")
    assert len(pixels(page)) > 5, "the picture is empty"

    page.click("#pause")
    soon(lambda: page.inner_text("#state") == "paused" and page.inner_text("#pause") == "Start", "it does not pause")
    held = number(page)
    page.click("#step")
    soon(lambda: number(page) == held + 1, "it does not step")
    page.keyboard.press(".")
    soon(lambda: number(page) == held + 2, "the key does not step")

    page.select_option("#field", "v")
    soon(lambda: page.inner_text("#what").startswith("v"), "the field does not change")
    page.select_option("#axis", "2")
    soon(lambda: "x=" in page.inner_text("#what"), "the axis does not change")
    page.locator("#plane").fill("7")
    soon(lambda: "x=7" in page.inner_text("#what"), "the plane does not change")
    page.click("#most")
    soon(lambda: "max along x" in page.inner_text("#what"), "there is no maximum")
    page.click("#most")
    soon(lambda: "x=7" in page.inner_text("#what"), "the maximum stays")
    before = set(pixels(page))
    page.select_option("#colours", "viridis")
    soon(lambda: set(pixels(page)) != before, "the colours do not change")
    page.click("#relief")
    soon(lambda: page.get_attribute("#relief", "aria-pressed") == "true", "there is no relief")
    page.click("#relief")
    soon(lambda: page.get_attribute("#relief", "aria-pressed") == "false", "the relief stays")
    page.fill("#lo", "-2")
    page.fill("#hi", "2")
    page.keyboard.press("Enter")
    page.locator("#picture").focus()
    soon(lambda: page.inner_text("#barlo") == "-2" and page.inner_text("#barhi") == "2", "the range is not fixed")
    page.click("#auto")
    soon(lambda: page.inner_text("#auto") == "Automatic", "the range is not automatic")

    box = page.locator("#picture").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    soon(lambda: page.is_visible("#value"), "no value under the pointer")
    value, place = re.fullmatch(r"([^\[\s]+)\s*(\[.*\])", page.inner_text("#value").strip()).groups()
    row, column, plane = map(int, re.findall(r"\d+", place))
    assert abs(row - 20) <= 1 and abs(column - 30) <= 1 and plane == 7 and 0 <= float(value) <= 1, (value, place)
    page.mouse.wheel(0, -600)
    soon(lambda: page.evaluate("() => frame.rect[1] - frame.rect[0] < 40"), "the wheel does not zoom")
    left = page.evaluate("() => frame.rect[2]")
    page.mouse.down()
    page.mouse.move(middle[0] - 60, middle[1], steps=4)
    page.mouse.up()
    soon(lambda: page.evaluate("() => frame.rect[2]") > left, "dragging does not pan")
    page.click("#all")
    soon(lambda: page.evaluate("() => frame.rect[1] - frame.rect[0]") == 40, "it is not shown whole")

    with page.expect_download() as saved:
        page.click("#save")
    assert pathlib.Path(saved.value.path()).read_bytes()[:4] == b"\x89PNG"
    page.keyboard.press("?")
    soon(lambda: page.is_visible("#helpbox"), "no keys")
    page.keyboard.press("Escape")
    page.click("#pause")
    soon(lambda: number(page) > held + 10, "it does not go on")
    page.click("#record")
    for _ in range(20):  # pictures
        shown = number(page)
        soon(lambda: number(page) > shown, "iterations do not go on")
    with page.expect_download() as film:
        page.click("#record")
    assert pathlib.Path(film.value.path()).stat().st_size > 1000 and film.value.suggested_filename.endswith((".webm", ".mp4"))
    assert not faults, faults
    assert all(u.startswith(url.split("#")[0]) or u.startswith(("blob:", "data:")) for u in asked), asked


def second_page(context, url):
    """It watches, and can take control."""
    page = context.new_page()
    page.goto(url)
    soon(lambda: number(page) > 0, "no picture")
    page.click("#pause")
    soon(lambda: page.is_visible("#locked"), "two pages control the run")
    page.click("#take")
    soon(lambda: page.evaluate("() => frame.controls"), "control was not taken")
    page.click("#pause")
    soon(lambda: page.inner_text("#state") == "paused", "control was not taken")
    page.click("#pause")
    return page


def wrong_token(context, url):
    page = context.new_page()
    page.goto(url[:-4] + "0000")
    soon(lambda: "token" in page.inner_text("#lost"), "a wrong token is accepted")
    page.close()


def main():
    shots = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        process, url = start(folder)
        try:
            browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for scheme, width, height, ratio in [("dark", 1280, 820, 1), ("light", 390, 800, 2)]:
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=ratio)
                context.set_default_timeout(200000)
                page = context.new_page()
                assert not page.goto(url) is None
                if ratio == 1:
                    use(page, url, process)
                    wrong_token(context, url)
                    other = second_page(context, url)
                    other.close()
                else:
                    soon(lambda: number(page) > 0, "no picture on a phone")
                    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the phone"
                if shots:
                    page.screenshot(path=f"{shots}/page_{scheme}.png")
                if ratio == 2:
                    process.kill()
                    soon(lambda: page.is_visible("#lost"), "the end is not told")
                context.close()
            browser.close()
        finally:
            process.kill()
            process.wait()
    print("ok - the page")


main()
