# SPDX-License-Identifier: GPL-2.0-or-later
"""Certificates, and connections by TLS, as bytes."""
import datetime
import socket
import ssl
import subprocess

from raw import Wire


def make_certificate(folder, name="server", names="DNS:localhost,IP:127.0.0.1", days=30, start=None):
    """A certificate that signs itself, and its key: two files."""
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                    folder / "request", "-subj", "/CN=localhost"], check=True, capture_output=True)
    (folder / "extensions").write_text(f"subjectAltName={names}\nbasicConstraints=critical,CA:TRUE\n")
    start = start or datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
    dates = [f"{at:%Y%m%d%H%M%SZ}" for at in (start, start + datetime.timedelta(days=days))]
    # `openssl x509` of Debian 12 has no dates to choose, `openssl ca` has.
    (folder / "index").write_text("")
    (folder / "serial").write_text("01\n")
    (folder / "ca.conf").write_text(f"[ca]\ndefault_ca=a\n[a]\nnew_certs_dir={folder}\ndatabase={folder}/index\nserial={folder}/serial\n"
                                    f"default_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n")
    subprocess.run(["openssl", "ca", "-batch", "-selfsign", "-config", folder / "ca.conf", "-in", folder / "request", "-keyfile", key, "-out",
                    certificate, "-extfile", folder / "extensions", "-startdate", dates[0], "-enddate", dates[1], "-notext"],
                   check=True, capture_output=True)
    return certificate, key


def trusting(certificate):
    return ssl.create_default_context(cafile=certificate)


class TlsWire(Wire):
    """A Wire by TLS."""

    def __init__(self, address, context, **options):
        super().__init__(address, **options)
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost", suppress_ragged_eofs=False)


class UnixWire(Wire):
    """A Wire to a Unix socket."""

    def __init__(self, path, timeout_s=10):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout_s)
        self.socket.connect(str(path))
        self.text = b""
