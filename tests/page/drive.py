# SPDX-License-Identifier: MIT
"""usage: drive.py TEST FILE...: opens pages in a browser, uses them as a person would, and looks at what they show. With PAGE_SHOTS=FOLDER, screenshots are left there."""
import json
import os
import sys

from browser import Browser, missing

CANVAS = "#timelines canvas"
ENTER, ESCAPE = "\ue007", "\ue00c"


def check(good, what):
    if not good:
        raise SystemExit("FAILED: " + what)


def picture(browser, css=CANVAS):
    return browser.script("return document.querySelector(arguments[0]).toDataURL()", css)


def quiet(browser, where):
    complaints = browser.complaints()
    check(not complaints, "%s: the console says %s" % (where, complaints))


def shoot(browser, name):
    if os.environ.get("PAGE_SHOTS"):
        browser.screenshot(os.path.join(os.environ["PAGE_SHOTS"], name + ".png"))


def says(browser, css, text):
    told = browser.text(css)
    check(text in told, "%s: '%s' is not in '%s'" % (css, text, told))


def changes(browser, act, what, css=CANVAS):
    before = picture(browser, css)
    act()
    check(picture(browser, css) != before, what + ": the picture is the same")


def hover(browser, y, wanted):
    """Moves along a lane until the tip says that; returns where."""
    for x in range(-640, 640, 6):
        browser.pointer(CANVAS, x, y)
        if wanted in browser.script("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.innerText"):
            return x
    raise SystemExit("FAILED: no tip says '%s'" % wanted)


def report(browser, golden):
    """The golden record `timed`; make.c tells its seven messages."""
    browser.open(golden)
    says(browser, ".verdict", "Not deterministic")
    says(browser, "#status", "15 events and 7 messages in view")
    check([b.strip() for b in browser.text("#axes").split("\n")] == ["events", "Lamport clock", "wall clock"], "axes: " + browser.text("#axes"))
    quiet(browser, "opening")
    shoot(browser, "timed-light")
    whole = picture(browser)

    # Keys: the first wildcard receive took C from rank 2, while A of rank 1, with the same tag, was on its way.
    browser.keys(CANVAS, "n")
    says(browser, "#detail", "rank 0, event 0")
    says(browser, "#detail", "took the message from rank 2, tag 7")
    says(browser, "#detail", "rank 1\n")
    says(browser, "#detail", "the message was sent at 0")
    browser.keys(CANVAS, "n")
    says(browser, "#detail", "receive 1 had the message from rank 1, tag 7")
    browser.keys(CANVAS, "p" + ESCAPE)
    check(browser.text("#detail") == "", "Escape left a selection")
    check(picture(browser) == whole, "after Escape, another picture")

    # Zoom and pan
    changes(browser, lambda: browser.wheel(CANVAS, 0, 0, -240), "wheel")
    for _ in range(4):
        browser.keys(CANVAS, "+")
    check(int(browser.text("#status").split()[0]) < 15, "zoomed in, all events are in view: " + browser.text("#status"))
    changes(browser, lambda: browser.keys(CANVAS, "\ue014"), "arrow right")
    drag = [{"type": "pointerDown", "button": 0}, {"type": "pointerMove", "duration": 0, "origin": "pointer", "x": 120, "y": 0}, {"type": "pointerUp", "button": 0}]
    changes(browser, lambda: browser.pointer(CANVAS, 0, 0, *drag), "drag")
    browser.click("[data-do=fit]")
    browser.pointer("#strip", 0, 0)
    check(picture(browser) == whole, "after fit, another picture")

    # Pointer: the tip, and a selection by click
    x = hover(browser, -69, "could also have been from rank 1")
    browser.pointer(CANVAS, x, -69, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})
    says(browser, "#detail", "took the message from rank 2, tag 7")
    shoot(browser, "timed-selected")
    browser.keys(CANVAS, ESCAPE)
    browser.pointer("#strip", 0, 0)

    # Call sites: of MPI_Recv are C, F and G to rank 0, and D to rank 1; of MPI_Wait are A and E
    matrix = picture(browser, "#matrix")
    changes(browser, lambda: browser.click('tr[data-site="0"]'), "select a call site")
    says(browser, "#status", "4 messages in view")
    check(picture(browser, "#matrix") != matrix, "the matrix is not filtered")
    browser.keys('tr[data-site="3"]', ENTER)
    says(browser, "#status", "2 messages in view")
    browser.click("#clear")
    check(picture(browser) == whole and picture(browser, "#matrix") == matrix, "after 'show everything', another picture")
    browser.keys("#search", "waitsome")
    check(browser.script("return document.querySelectorAll('tr[data-site]').length") == 1, "the search does not leave one call site")
    browser.keys("#search", "\ue003" * 8)
    browser.click("th:nth-child(1) button")
    check(browser.text("tbody tr:first-child td").strip() == "MPI_Iprobe", "not sorted by name: " + browser.text("tbody tr:first-child td"))

    # Matrix: A, B and G went from rank 1 to rank 0
    browser.keys("#matrix", "\ue015\ue015")
    says(browser, "#matrix-status", "rank 1 → rank 0: 3 messages")
    browser.keys("#matrix", ENTER)
    says(browser, "#status", "3 messages in view")
    browser.click("#clear")

    # Time
    clock = picture(browser)
    for axis, other in (("time", clock), ("event", clock)):
        browser.click('[data-axis="%s"]' % axis)
        check(picture(browser) != other, "axis %s: the picture is the same" % axis)
        check(browser.script("return document.querySelector('[data-axis=%s]').getAttribute('aria-pressed')" % axis) == "true", "axis %s is not pressed" % axis)
        says(browser, "#status", "15 events and 7 messages in view")
    browser.click('[data-axis="clock"]')
    browser.pointer("#strip", 0, 0)
    check(picture(browser) == clock, "back at the clock, another picture")

    # Dark
    browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.settle()
    check(picture(browser) != clock, "dark: the picture is the same")
    shoot(browser, "timed-dark")
    browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    quiet(browser, "use")


def hostile(browser, page, text):
    browser.open(page)
    check(browser.script("return typeof window.owned") == "undefined", "a name of the record ran as script")
    check(browser.script("return document.images.length") == 0, "a name of the record became an image")
    browser.click('tr[data-site="0"]')
    browser.keys(CANVAS, "n")
    hover(browser, -69, text)
    for css in ("#origin", "#sites", "#detail"):
        says(browser, css, text)
    check(browser.script("return typeof window.owned") == "undefined", "a name of the record ran as script, after a selection")
    quiet(browser, "hostile names")
    shoot(browser, "hostile")


def diff(browser, page, answer, same):
    wanted = json.load(open(answer))
    rank = wanted["earliest"]["rank"]
    first = [d for d in wanted["divergences"] if d["rank"] == rank][0]
    browser.open(page)
    says(browser, ".verdict", "%d of %d ranks differ" % (wanted["differing"], wanted["ranks"]))
    says(browser, "#sides", "rank %d, event %s" % (rank, format(first["sides"][0]["event"], ",")))
    says(browser, "#divergences", first["sides"][1]["words"])
    check(browser.script("return document.querySelectorAll('#timelines canvas').length") == 2, "not two timelines")
    shoot(browser, "diff")
    second = "#timelines .timeline:last-child canvas"
    changes(browser, lambda: browser.wheel(CANVAS, 0, 0, -240), "wheel over the first, seen in the second", second)
    last = len(wanted["divergences"]) - 1
    changes(browser, lambda: browser.click('tr[data-divergence="%d"]' % last), "select a divergence", second)
    says(browser, "#sides", "rank %d, event" % wanted["divergences"][last]["rank"])
    quiet(browser, "diff")
    browser.open(same)
    says(browser, ".verdict", "No difference")
    quiet(browser, "diff of the same")


def large(browser, *pages):
    """Opened within three seconds of the main thread's own time, which does not depend on what else runs here."""
    for page in pages:
        browser.devtools("Performance.enable", timeDomain="threadTicks")
        elapsed = browser.open(page)
        busy = {m["name"]: m["value"] for m in browser.devtools("Performance.getMetrics")["metrics"]}["TaskDuration"]
        print("%s: opened in %.2f s, %.2f s of them busy; %s" % (os.path.basename(page), elapsed, busy, browser.text("#status")))
        check(busy < 3, "opening took %.2f s" % busy)
        name = os.path.basename(page).replace(".html", "")
        shoot(browser, name)
        changes(browser, lambda: browser.click("[data-do=in]"), "zoom")
        changes(browser, lambda: browser.click("[data-do=taller]"), "taller ranks")
        for _ in range(6):
            browser.click("[data-do=in]")
            browser.click("[data-do=taller]")
        changes(browser, lambda: browser.keys(CANVAS, "n"), "next wildcard")
        shoot(browser, name + "-near")
        changes(browser, lambda: browser.click('tr[data-site="2"]'), "select a call site")
        browser.click("[data-do=fit]")
        changes(browser, lambda: browser.click('[data-axis="time"]'), "switch time")
        quiet(browser, page)


def apps(browser, *pages):
    for page in pages:
        browser.open(page)
        check(browser.text(".verdict") and not browser.script("return document.getElementById('failure') !== null"), page + ": nothing is shown")
        sites = browser.script("return document.querySelectorAll('tr[data-site]').length")
        if sites:
            browser.click("tr[data-site]")
            browser.click("#clear")
            browser.click("[data-do=in]")
            browser.click("[data-do=next]")
        else:
            check("no event" in browser.text("#timelines"), page + ": nothing says why there is no timeline")
        for axis in browser.script("return [...document.querySelectorAll('[data-axis]')].map(b => b.dataset.axis)"):
            browser.click('[data-axis="%s"]' % axis)
        quiet(browser, page)
        shoot(browser, "app-" + os.path.basename(page).replace(".html", ""))
        print("%s: %s" % (os.path.basename(page), browser.text(".verdict").split("\n")[0]))


if missing():
    print("skipped: there is no %s; Debian has it in the packages chromium and chromium-driver" % missing())
    sys.exit(77)
with Browser() as opened:
    globals()[sys.argv[1]](opened, *sys.argv[2:])
print(sys.argv[1] + ": as expected")
