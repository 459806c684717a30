# SPDX-License-Identifier: MIT
"""Chromium without a window, driven through chromedriver's HTTP interface (W3C WebDriver); the standard library is enough."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def missing():
    """What is not there, or None."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return program
    return None


class Browser:
    def __init__(self, width=1440, height=1200, dark=False):
        self.folder = tempfile.mkdtemp(prefix="reprise-browser.")
        self.driver = subprocess.Popen(["chromedriver", "--port=0", "--log-path=" + self.folder + "/log"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.session = None
        try:
            self.url = "http://127.0.0.1:%d" % self.port()
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=%d,%d" % (width, height), "--user-data-dir=" + self.folder + "/profile"]
            if dark:
                arguments.append("--force-dark-mode")
            wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}, "timeouts": {"script": 120000, "pageLoad": 300000}}
            self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        except BaseException:
            self.close()
            raise

    def port(self):
        for line in self.driver.stdout:
            if "successfully on port" in line:
                return int(line.rstrip(".\n").split()[-1])
        raise RuntimeError("chromedriver did not start")

    def call(self, method, path, body=None):
        path = "/session/" + self.session + path if self.session else path
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=320) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError("%s %s: %s" % (method, path, json.load(error)["value"]["message"])) from None

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path):
        """Opens a file and waits until it is drawn; returns how many seconds that took."""
        begin = time.monotonic()
        self.call("POST", "/url", {"url": "file://" + os.path.abspath(path)})
        self.script("const done = arguments[arguments.length - 1], page = document.getElementById('page');"
                    "const look = () => page.getAttribute('aria-busy') === 'false' ? requestAnimationFrame(() => requestAnimationFrame(() => done(true))) : setTimeout(look, 5); look();", wait=True)
        return time.monotonic() - begin

    def script(self, text, *arguments, wait=False):
        return self.call("POST", "/execute/" + ("async" if wait else "sync"), {"script": text, "args": list(arguments)})

    def settle(self):
        """Until what was changed is drawn."""
        self.script("const done = arguments[arguments.length - 1]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)));", wait=True)

    def find(self, css):
        return self.call("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self.call("POST", "/element/%s/click" % self.find(css), {})
        self.settle()

    def keys(self, css, text):
        self.call("POST", "/element/%s/value" % self.find(css), {"text": text})
        self.settle()

    def text(self, css):
        return self.script("return document.querySelector(arguments[0]).innerText", css)

    def pointer(self, css, x, y, *actions):
        """Moves to a point from the middle of the element; then actions as WebDriver names them."""
        first = {"type": "pointerMove", "duration": 0, "origin": {ELEMENT: self.find(css)}, "x": x, "y": y}
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [first] + list(actions)}]})
        self.settle()

    def wheel(self, css, x, y, turn):
        action = {"type": "scroll", "duration": 0, "origin": {ELEMENT: self.find(css)}, "x": x, "y": y, "deltaX": 0, "deltaY": turn}
        self.call("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [action]}]})
        self.settle()

    def complaints(self):
        """What the console got since it was last asked."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"}) if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path, whole=True):
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        image = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip) if whole else self.devtools("Page.captureScreenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))

    def close(self):
        try:
            if self.session:
                self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
