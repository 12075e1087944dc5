# SPDX-License-Identifier: GPL-2.0-or-later
"""A world outside for sessions: hosts of the tests' own on this machine's loopback, which the operator's file lets egress reach, under names that only the server's
own /etc/hosts has."""
import functools
import http.server
import io
import json
import tarfile
import zipfile

from conftest import BUILD, Server
from listening import Listening, Quiet

NAMES = ("ok.test", "www.ok.test", "evil.test", "other.test")
CEILINGS = "egress_permit = 127.0.0.1\n"


class Site(Listening):
    """Serves a folder by plain HTTP, and keeps what it was asked for."""

    def __init__(self, folder):
        asked = self.asked = []

        class Handler(Quiet, http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.headers.get("Host"), self.path))
                super().do_GET()

        super().__init__(functools.partial(Handler, directory=folder))

    def url(self, path="/", host="ok.test"):
        return f"http://{host}:{self.port}{path}"


def start_server(folder, ceilings=CEILINGS, options=()):
    """A server whose egress knows NAMES and may reach them."""
    programs = folder / "programs"
    programs.mkdir()
    (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {name}\n" for name in NAMES))
    (folder / "ceilings").write_text(ceilings)
    (programs / "gloveboxd").write_text(
        "#!/bin/sh\n"
        f"exec unshare -m sh -c 'mount --bind {folder}/hosts /etc/hosts && exec {BUILD}/gloveboxd \"$@\"' gloveboxd \"$@\"\n")
    (programs / "gloveboxd").chmod(0o755)
    return Server(folder / "state", "--ceilings", folder / "ceilings", *options, programs=programs).start()


def make_wheel(folder):
    """A package index with one package, as pip takes it."""
    place = folder / "simple" / "parcel"
    place.mkdir(parents=True)
    with zipfile.ZipFile(place / "parcel-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("parcel.py", "HELLO = 'from outside'\n")
        wheel.writestr("parcel-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: parcel\nVersion: 1.0\n")
        wheel.writestr("parcel-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("parcel-1.0.dist-info/RECORD", "")
    (place / "index.html").write_text('<a href="parcel-1.0-py3-none-any.whl">parcel-1.0-py3-none-any.whl</a>')


def make_module(folder, site):
    """A registry with one module, as npm takes it."""
    place = folder / "registry"
    place.mkdir()
    with tarfile.open(place / "parcel-1.0.0.tgz", "w:gz") as archive:
        for name, text in (("package.json", '{"name":"parcel","version":"1.0.0"}'), ("index.js", "module.exports = 'from outside'\n")):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    (place / "parcel").write_text(json.dumps({
        "name": "parcel", "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {"name": "parcel", "version": "1.0.0", "dist": {"tarball": site.url("/registry/parcel-1.0.0.tgz")}}}}))
