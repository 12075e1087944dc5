# SPDX-License-Identifier: GPL-2.0-or-later
"""A relay in front of a server that puts a token into each request: for programs that know no tokens. Bytes go both ways as they come, and when
one side leaves, the other is closed."""
import re
import selectors
import socket
import threading

HEAD_MAX = 65536
WAIT_S = 60


class LetsIn:
    """Listens on a free port of localhost from the start; `relay_to` begins to answer."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://localhost:{self.port}"
        self.threads = []

    def relay_to(self, address, token):
        host, port = address.split(":")
        self.target = (host, int(port))
        self.token = token
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self.relay, args=(client,), daemon=True)
            thread.start()
            self.threads.append(thread)

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for thread in self.threads:
            thread.join(WAIT_S)
            assert not thread.is_alive()

    def read_head(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = client.recv(HEAD_MAX)
            if not piece:
                return None
            head += piece
        head, rest = head.split(b"\r\n\r\n", 1)
        # One request on a connection, so that no other head is to be found in it.
        head = re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", head)
        return head + b"\r\nConnection: close\r\nAuthorization: Bearer " + self.token.encode() + b"\r\n\r\n" + rest

    def relay(self, client):
        with client:
            client.settimeout(WAIT_S)
            head = self.read_head(client)
            if head is None:
                return
            with socket.create_connection(self.target) as server:
                server.sendall(head)
                carry(client, server)


def carry(client, server):
    """Until one of them leaves."""
    with selectors.DefaultSelector() as selector:
        selector.register(client, selectors.EVENT_READ, server)
        selector.register(server, selectors.EVENT_READ, client)
        while True:
            for key, _ in selector.select():
                try:
                    piece = key.fileobj.recv(65536)
                    if not piece:
                        return
                    key.data.sendall(piece)
                except OSError:
                    return
