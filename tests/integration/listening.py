# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of HTTP or HTTPS on a port of this machine's loopback, for as long as a test needs it."""
import http.server
import ssl
import threading

STOP_S = 0.05  # how often it looks whether it shall close


class Quiet:
    """A handler that writes no line for each request."""

    def log_message(self, *args):
        pass


class Listening:
    """`handler` is the class that answers, as http.server takes it; `certificate` the files of one and of its key."""

    def __init__(self, handler, certificate=None):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=[STOP_S], daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
