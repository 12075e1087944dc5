# SPDX-License-Identifier: GPL-2.0-or-later
"""The way out of a session without one: glovebox-egress by itself, on a machine of its own with an outside of its own (two network namespaces), whose name
server and servers the test controls. Addresses of documentation are refused by the proxy, so the outside has ordinary ones; none of it leaves this machine."""
import contextlib
import ctypes
import errno
import json
import os
import shutil
import socket
import struct
import subprocess
import threading
import pytest

from conftest import BUILD, cannot_run, until

HERE, THERE, GATEWAY = "93.184.1.1", "93.184.1.2", "93.184.1.3"  # the machine with the proxy; the outside, and its other address, through which all else goes
PRIVATE = "10.9.8.7"  # outside, too, and to be reached by nobody
CLONE_NEWNET = 0x40000000
UID = 1900000099
SESSION = "sproxyproxyproxy"
FRAME = struct.Struct("=IHH")
LABEL = struct.Struct("=II32s17s3x")
LISTEN, STAGE, SECRET, KEEP, SETTINGS, START = range(1, 7)
POLICY, VERDICT, ASK, DECISION, CLOSED, USAGE, READY, LEFT = range(1, 9)
KINDS = {ASK: "ask", DECISION: "decision", CLOSED: "closed", USAGE: "usage", READY: "ready", LEFT: "left"}
EVERYTHING = 2  # the ceiling


def libc_call(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)


class Namespace:
    """A network namespace, held by a process that sleeps."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        own = os.readlink("/proc/self/ns/net")
        until(lambda: os.readlink(f"/proc/{self.holder.pid}/ns/net") != own)
        self.run("ip", "link", "set", "lo", "up")

    def run(self, *command):
        subprocess.run(["nsenter", "--net", "--target", str(self.holder.pid), *command], check=True)

    @contextlib.contextmanager
    def inside(self):
        """This thread's sockets are made there."""
        with open("/proc/thread-self/ns/net", "rb") as own, open(f"/proc/{self.holder.pid}/ns/net", "rb") as there:
            libc_call("setns", there.fileno(), CLONE_NEWNET)
            try:
                yield
            finally:
                libc_call("setns", own.fileno(), CLONE_NEWNET)

    def listen(self, address, port, kind=socket.SOCK_STREAM):
        with self.inside():
            made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        if kind == socket.SOCK_STREAM:
            made.listen(1024)
        return made

    def close(self):
        self.holder.kill()
        self.holder.wait()


class Names:
    """A name server. `names` maps a name to its addresses, or to a function of name and type that gives
    them, or None for no answer."""

    def __init__(self, namespace):
        self.names, self.asked = {}, []
        self.socket = namespace.listen(THERE, 53, socket.SOCK_DGRAM)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            question, peer = self.socket.recvfrom(512)
            answer = self.answer(question)
            with contextlib.suppress(OSError):
                if answer:
                    self.socket.sendto(answer, peer)

    def answer(self, question):
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode("latin-1"))
            at += 1 + question[at]
        kind, = struct.unpack_from(">H", question, at + 1)
        name = ".".join(labels).lower()
        self.asked.append(name)
        addresses = self.names.get(name)
        if callable(addresses):
            addresses = addresses([name, kind])
            if addresses is None:
                return None
        # A CNAME is a text that begins with "=".
        records = []
        while addresses and isinstance(addresses, str) and addresses.startswith("="):
            target = b"".join(bytes([len(part)]) + part.encode() for part in addresses[1:].split(".")) + b"\0"
            records.append((5, target))
            addresses = self.names.get(addresses[1:])
        family, wanted = (socket.AF_INET, 1) if kind == 1 else (socket.AF_INET6, 28)
        for address in addresses or []:
            if (":" in address) == (wanted == 28):
                records.append((kind, socket.inet_pton(family, address)))
        code = 0 if name in self.names else 3
        head = question[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        body, owner = question[12:at + 5], b"\xc0\x0c"
        for of, data in records:
            body += owner + struct.pack(">HHIH", of, 1, 0, len(data)) + data
            if of == 5:
                owner = struct.pack(">H", 0xC000 | 12 + len(body) - len(data))
        return head + body if len(body) < 500 else question[:2] + struct.pack(">HHHHH", 0x8380, 1, 0, 0, 0) + question[12:at + 5]


class Server:
    """What listens outside: each connection is served by `serve(connection)` in a thread; how many came is counted."""

    def __init__(self, namespace, address, port, serve):
        self.count, self.serve = 0, serve
        self.socket = namespace.listen(address, port)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.socket.accept()
            self.count += 1
            threading.Thread(target=self.run, args=[connection], daemon=True).start()

    def run(self, connection):
        with connection, contextlib.suppress(OSError):
            self.serve(connection)


def echo(connection):
    """All that comes goes back, and the end at the end."""
    while data := connection.recv(65536):
        connection.sendall(data)


def read_head(connection, text=b""):
    while b"\r\n\r\n" not in text:
        data = connection.recv(65536)
        if not data:
            return None, text
        text += data
    head, _, rest = text.partition(b"\r\n\r\n")
    return head.decode("latin-1"), rest


class Web:
    """Answers requests with what it got, as JSON: its first line, its fields in order, its body. Or as `answers` says, by path: bytes to send."""

    def __init__(self):
        self.heads, self.answers = [], {}

    def __call__(self, connection):
        rest = b""
        while True:
            head, rest = read_head(connection, rest)
            if head is None:
                return
            self.heads.append(head)
            line, *fields = head.split("\r\n")
            named = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
            body, rest = self.body(connection, named, rest)
            path = line.split()[1]
            if path in self.answers:
                connection.sendall(self.answers[path])
                return
            text = json.dumps({"line": line, "fields": fields, "body": body.decode("latin-1")}).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Seen: yes\r\n\r\n" % len(text) + (b"" if line.startswith("HEAD") else text))
            if named.get("connection") == "close":
                return

    @staticmethod
    def body(connection, named, rest):
        def need(n):
            nonlocal rest
            while len(rest) < n:
                data = connection.recv(65536)
                if not data:
                    raise ConnectionError("the body breaks off")
                rest += data
            taken, rest = rest[:n], rest[n:]
            return taken

        if "transfer-encoding" not in named:
            return need(int(named.get("content-length", 0))), rest
        body = b""
        while True:
            size = b""
            while not size.endswith(b"\r\n"):
                size += need(1)
            chunk = need(int(size, 16) + 2)
            body += chunk[:-2]
            if len(chunk) == 2:
                return body, rest


class Outside:
    """Both namespaces, joined by a wire."""

    def __init__(self):
        if os.geteuid() != 0 or not shutil.which("ip"):
            cannot_run("network namespaces need root, and ip")
        self.machine, self.net = Namespace(), Namespace()
        self.machine.run("ip", "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", str(self.net.holder.pid))
        for namespace, addresses in ((self.machine, [HERE + "/24", "2606:4700::1/64"]), (self.net, [THERE + "/24", GATEWAY + "/24", PRIVATE + "/32", "2606:4700::2/64"])):
            for address in addresses:
                namespace.run("ip", "address", "add", address, "dev", "wire", *(["nodad"] if ":" in address else []))
            namespace.run("ip", "link", "set", "wire", "up")
        self.machine.run("ip", "route", "add", "default", "via", GATEWAY)
        self.names = Names(self.net)

    def close(self):
        self.machine.close()
        self.net.close()


def record(kind, fd=None, name=b"", ceiling=0, session=b""):
    return LABEL.pack(kind, ceiling, name, session), [] if fd is None else [fd]


class Proxy:
    """glovebox-egress proxy, in a root as the warden makes it, with the test in the places of warden, stage and programs."""

    def __init__(self, outside, folder, ceiling=EVERYTHING, settings="", secrets=None, certificates=None):
        self.folder, self.path = folder, folder / "proxy.sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen(1024)
        self.listener.setblocking(False)
        self.stage, stage = socket.socketpair()
        stage.setblocking(False)
        self.warden, warden = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.go, go = os.pipe()[::-1]
        self.said, self.buffer, self.reads = [], b"", True
        self.process = self.start(outside, go, warden, certificates)
        os.close(go)
        warden.close()
        os.write(self.go, b"g")
        for data, fds in self.labels(stage, ceiling, settings, secrets or {}):
            socket.send_fds(self.warden, [data], fds)
        stage.close()
        threading.Thread(target=self.listen, daemon=True).start()

    def start(self, outside, go, warden, certificates):
        root, etc = self.folder / "root", self.folder / "etc"
        for name in ("usr", "lib", "lib64", "etc", "certs", "run", "dev", "tmp"):
            (root / name).mkdir(parents=True)
        etc.mkdir()
        (root / "etc" / "hosts").write_text("127.0.0.1 localhost\n93.184.1.2 from-the-file.test\n")
        (root / "etc" / "resolv.conf").write_text(f"nameserver {THERE}\nsearch search.test\noptions timeout:1\n")
        shutil.copy(certificates or "/etc/ssl/certs/ca-certificates.crt", root / "certs" / "ca-certificates.crt")
        shutil.copy(BUILD / "glovebox-egress", root / "glovebox-egress")
        (root / "dev" / "urandom").touch()
        os.chown(root / "run", UID, UID)
        os.chmod(self.folder, 0o755)
        script = ("set -e; for name in usr lib lib64; do mount --rbind /$name \"$1/$name\"; done; mount --bind /dev/urandom \"$1/dev/urandom\"; "
                  f"exec 201<&{go} 202<&{warden.fileno()} 3<&201 4<&202; exec chroot \"$1\" /glovebox-egress proxy {SESSION}")
        self.log = open(self.folder / "log", "wb")
        return subprocess.Popen(["nsenter", "--net", "--target", str(outside.machine.holder.pid), "unshare", "--mount", "bash", "-c", script, "bash", root],
                                pass_fds=(go, warden.fileno()), env={"GLOVEBOX_UID": str(UID), "PATH": os.environ["PATH"]}, stderr=self.log)

    def labels(self, stage, ceiling, settings, secrets):
        yield record(LISTEN, self.listener.fileno())
        yield record(STAGE, stage.fileno())
        self.keep = os.memfd_create("keep")
        os.truncate(self.keep, 65536)
        yield record(KEEP, self.keep)
        for kind, name, text in [(SETTINGS, "", settings)] + [(SECRET, name, value) for name, value in secrets.items()]:
            fd = os.memfd_create("text")
            os.write(fd, text.encode())
            yield record(kind, fd, name.encode())
            os.close(fd)
        yield record(START, None, b"", ceiling, SESSION.encode())

    # As the stage.

    def send(self, kind, value):
        text = json.dumps(value).encode()
        pieces = [text[at:at + 200_000] for at in range(0, len(text), 200_000)]
        for piece in pieces:
            self.stage.sendall(FRAME.pack(len(piece), kind, 0 if piece is pieces[-1] else 1) + piece)

    def policy(self, mode="allowlist", allow=(), **more):
        n = len(self.of("ready"))
        self.send(POLICY, {"mode": mode, "allow": list(allow), **more})
        until(lambda: len(self.of("ready")) > n, every_s=0.005)

    def listen(self):
        with contextlib.suppress(OSError):
            while data := self.stage.recv(65536):
                until(lambda: self.reads, every_s=0.01)
                self.buffer += data
                while len(self.buffer) >= FRAME.size:
                    length, kind, _ = FRAME.unpack_from(self.buffer)
                    if len(self.buffer) < FRAME.size + length:
                        break
                    value = json.loads(self.buffer[FRAME.size:FRAME.size + length])
                    self.buffer = self.buffer[FRAME.size + length:]
                    self.said.append((KINDS[kind], value))

    def of(self, kind):
        return [value for said, value in list(self.said) if said == kind]

    def decisions(self, since=0):
        return self.of("decision")[since:]

    # As a program of the session.

    def connect(self, text=b"", timeout_s=20):
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(timeout_s)
        made.connect(str(self.path))
        made.sendall(text)
        return made

    def tunnel(self, authority, version="1.1"):
        """A connection that CONNECT has opened, or the status and text of a refusal."""
        made = self.connect(f"CONNECT {authority} HTTP/{version}\r\nHost: {authority}\r\n\r\n".encode())
        head = b""
        # What comes behind the head is the tunnel's.
        while not head.endswith(b"\r\n\r\n"):
            head += made.recv(1) or pytest.fail(f"no answer but {head}")
        status = int(head.split()[1])
        return made if status == 200 else (status, everything(made).decode())

    def socks(self, host, port, kind=3):
        """The same by SOCKS5: a connection, or the code of a refusal."""
        made = self.connect(b"\5\1\0")
        assert made.recv(2) == b"\5\0"
        address = bytes([len(host)]) + host if kind == 3 else host
        made.sendall(b"\5\1\0" + bytes([kind]) + address + port.to_bytes(2, "big"))
        reply = made.recv(10)
        assert len(reply) == 10 and reply[0] == 5, reply
        return reply[1] or made

    def ask(self, text):
        """All that comes back for these bytes, until the proxy ends the connection."""
        with self.connect(text) as made:
            return everything(made)

    def close(self):
        # A thread still reads it: closing alone would tell nobody.
        with contextlib.suppress(OSError):
            self.stage.shutdown(socket.SHUT_RDWR)
        try:
            self.process.wait(10)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        self.log.close()
        self.listener.close()
        os.close(self.go)
        os.close(self.keep)
        self.warden.close()
        self.stage.close()


def everything(connection):
    text = b""
    try:
        while data := connection.recv(65536):
            text += data
    except OSError as e:
        assert e.errno == errno.ECONNRESET, e
    return text
