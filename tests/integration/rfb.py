# SPDX-License-Identifier: GPL-2.0-or-later
"""A viewer: RFB over whatever has sendall and recv, and a WebSocket that has them. Decodes what it asks for into a picture of its own."""
import base64
import io
import os
import socket
import struct
import time
import urllib.parse
import zlib

from PIL import Image

from api import Api

RAW, COPY, TIGHT, ZRLE = 0, 1, 7, 16
CURSOR, DESKTOP_SIZE, LAST_RECT, EXT_SIZE, CLIPBOARD = -239, -223, -224, -308, 0xC0A1E5CE - (1 << 32)
QUALITY_6 = -26
CAPS, REQUEST, PEEK, NOTIFY, PROVIDE = (1 << bit for bit in range(24, 29))
PATIENCE_S = 10
SHIFT, CTRL, ALT, RETURN, TAB, BACKSPACE = 0xFFE1, 0xFFE3, 0xFFE9, 0xFF0D, 0xFF09, 0xFF08


class Closed(AssertionError):
    """The other side has closed; `code` of a WebSocket."""

    def __init__(self, code=None):
        self.code = code
        super().__init__(f"closed: {code}")


class WebSocket:
    """The client's end of a connection that was upgraded, as a stream of bytes."""

    def __init__(self, api, path, ticket, headers=None):
        host, port = urllib.parse.urlsplit(api.url).hostname, urllib.parse.urlsplit(api.url).port
        self.socket = socket.create_connection((host, port), timeout=PATIENCE_S)
        if api.context:
            self.socket = api.context.wrap_socket(self.socket, server_hostname=host)
        lines = {"Host": f"{host}:{port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                 "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Protocol": f"binary, ticket.{ticket}", **(headers or {})}
        self.socket.sendall(f"GET {path} HTTP/1.1\r\n{''.join(f'{name}: {value}' + chr(13) + chr(10) for name, value in lines.items())}\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            more = self.socket.recv(4096)
            if not more:
                raise Closed()
            head += more
        head, self.ahead = head.split(b"\r\n\r\n", 1)
        self.head = head.decode()
        self.status = int(self.head.split()[1])
        self.data = b""

    def send_frame(self, opcode, data):
        mask = os.urandom(4)
        size = len(data)
        head = bytes([0x80 | opcode]) + (bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + struct.pack(">H", size) if size < 65536
                                         else bytes([0xFF]) + struct.pack(">Q", size))
        pad = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(pad, "big")).to_bytes(size, "big")
        self.socket.sendall(head + mask + masked)

    def sendall(self, data):
        self.send_frame(2, data)

    def take(self, n):
        while len(self.ahead) < n:
            more = self.socket.recv(65536)
            if not more:
                raise Closed()
            self.ahead += more
        data, self.ahead = self.ahead[:n], self.ahead[n:]
        return data

    def frame(self):
        first, second = self.take(2)
        size = second & 0x7F
        if size >= 126:
            size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
        return first & 0x0F, self.take(size)

    def recv(self, n):
        deadline = time.monotonic() + PATIENCE_S
        while not self.data:
            if time.monotonic() > deadline:
                raise TimeoutError("nothing but pings comes")
            opcode, data = self.frame()
            if opcode == 9:
                self.send_frame(10, data)
            elif opcode == 8:
                raise Closed(int.from_bytes(data[:2], "big") if data else None)
            elif opcode in (0, 2):
                self.data += data
        data, self.data = self.data[:n], self.data[n:]
        return data

    def settimeout(self, seconds):
        self.socket.settimeout(seconds)

    def close(self):
        self.socket.close()

    def reset(self):
        """Without a word: RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def des_key(password):
    """The bits of each byte the other way round, as VNC has them."""
    return bytes(int(f"{byte:08b}"[::-1], 2) for byte in password.encode().ljust(8, b"\0")[:8])


class Rfb:
    """One viewer, logged in. `picture` is what it has decoded; `cursor` the pointer's image with its hot spot, `text` what was copied last."""

    def __init__(self, stream, encodings=(RAW,), answer=None, version=b"RFB 003.008\n"):
        self.stream = stream
        self.version = self.take(12)
        self.send(version)
        kinds = self.take(self.take(1)[0])
        self.kinds = list(kinds)
        kind = 2 if answer else 1
        assert kind in kinds, kinds
        self.send(bytes([kind]))
        if answer:
            self.send(answer(self.take(16)))
        if (result := self.u32()) != 0:
            raise Closed(result)
        self.send(b"\1")
        self.width, self.height = self.u16(), self.u16()
        self.take(16)
        self.name = self.take(self.u32()).decode()
        self.picture = Image.new("RGB", (self.width, self.height))
        self.cursor = self.text = self.layout = None
        self.rects = []  # of the last update
        self.notified = 0
        self.zrle = zlib.decompressobj()
        self.tight = [zlib.decompressobj() for _ in range(4)]
        # 32 bits, blue first in memory, as the server has them.
        self.send(struct.pack(">B3xBBBBHHHBBB3x", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0))
        self.set_encodings(*encodings)

    # --- bytes ---

    def send(self, data):
        self.stream.sendall(data)

    def take(self, n):
        data = b""
        while len(data) < n:
            more = self.stream.recv(n - len(data))
            if not more:
                raise Closed()
            data += more
        return data

    def u8(self):
        return self.take(1)[0]

    def u16(self):
        return int.from_bytes(self.take(2), "big")

    def u32(self):
        return int.from_bytes(self.take(4), "big")

    def close(self):
        self.stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- what it says ---

    def set_encodings(self, *encodings):
        self.encodings = encodings
        self.send(struct.pack(">BxH", 2, len(encodings)) + b"".join(struct.pack(">i", encoding) for encoding in encodings))

    def request(self, incremental=True):
        self.send(struct.pack(">BBHHHH", 3, incremental, 0, 0, self.width, self.height))

    def key(self, keysym, down):
        self.send(struct.pack(">BBxxI", 4, down, keysym))

    def tap(self, *keysyms):
        for keysym in keysyms:
            self.key(keysym, True)
            self.key(keysym, False)

    def type(self, text):
        """As viewers do: signs of Latin-1 by their own numbers, others by Unicode's; Shift is not theirs to know."""
        for char in text:
            self.tap(RETURN if char == "\n" else ord(char) if ord(char) < 0x100 else 0x01000000 + ord(char))

    def pointer(self, x, y, mask=0):
        self.send(struct.pack(">BBHH", 5, mask, x, y))

    def click(self, x, y, button=1):
        for mask in (0, 1 << (button - 1), 0):
            self.pointer(x, y, mask)

    def cut(self, text):
        """Latin-1, as old viewers have it."""
        data = text.encode("latin-1")
        self.send(struct.pack(">B3xI", 6, len(data)) + data)

    def cut_flags(self, flags, body=b""):
        self.send(struct.pack(">B3xiI", 6, -(4 + len(body)), flags) + body)

    def offer(self, text):
        """As new ones do: told, asked for, given."""
        self.cut_flags(NOTIFY | 1)
        self.until(lambda: self.notified & REQUEST)
        data = text.replace("\n", "\r\n").encode() + b"\0"
        self.cut_flags(PROVIDE | 1, zlib.compress(struct.pack(">I", len(data)) + data))

    def resize(self, width, height):
        self.send(struct.pack(">BxHHBxIHHHHI", 251, width, height, 1, 0, 0, 0, width, height, 0))

    # --- what it hears ---

    def message(self):
        """One message of the server; its number."""
        kind = self.u8()
        if kind == 0:
            self.take(1)
            self.update(self.u16())
        elif kind == 3:
            self.take(3)
            self.cut_text(struct.unpack(">i", self.take(4))[0])
        else:
            assert kind == 2, kind
        return kind

    def until(self, done, incremental=True, seconds=PATIENCE_S):
        """Asks for pictures and takes what comes until done()."""
        deadline = time.monotonic() + seconds
        asked = False
        while not done():
            assert time.monotonic() < deadline, "it does not come"
            if not asked:
                self.request(incremental)
                asked = True
            if self.message() == 0:
                asked, incremental = False, True

    def whole(self):
        """All of the screen, now."""
        self.rects = []
        self.until(lambda: any(kind in (RAW, TIGHT, ZRLE) for kind, *_ in self.rects), incremental=False)
        return self.picture

    def cut_text(self, size):
        if size >= 0:
            self.text = self.take(size).decode("latin-1")
            return
        flags, body = self.u32(), self.take(-size - 4)
        self.notified = flags
        if flags & CAPS:
            self.caps = flags
        elif flags & NOTIFY and flags & 1:
            self.cut_flags(REQUEST | 1)
        elif flags & PROVIDE:
            data = zlib.decompress(body)
            self.text = data[4:4 + struct.unpack(">I", data[:4])[0]].rstrip(b"\0").decode().replace("\r\n", "\n")

    def update(self, n):
        self.rects = []
        while n > 0:
            x, y, width, height, kind = struct.unpack(">HHHHi", self.take(12))
            if kind == LAST_RECT:
                break
            self.rects.append((kind, x, y, width, height))
            self.DECODERS[kind](self, x, y, width, height)
            n -= 1

    def put(self, x, y, width, height, data, mode="BGRX"):
        self.picture.paste(Image.frombytes("RGB", (width, height), data, "raw", mode), (x, y))

    def raw(self, x, y, width, height):
        self.put(x, y, width, height, self.take(width * height * 4))

    def copy(self, x, y, width, height):
        from_x, from_y = self.u16(), self.u16()
        self.picture.paste(self.picture.crop((from_x, from_y, from_x + width, from_y + height)), (x, y))

    def new_size(self, width, height):
        if (width, height) != (self.width, self.height):
            self.width, self.height = width, height
            self.picture = Image.new("RGB", (width, height))

    def desktop_size(self, _x, _y, width, height):
        self.new_size(width, height)

    def ext_size(self, x, y, width, height):
        self.layout = (x, y, width, height)
        screens = self.u8()
        self.take(3 + 16 * screens)
        self.new_size(width, height)

    def shape(self, x, y, width, height):
        pixels = self.take(width * height * 4)
        mask = self.take((width + 7) // 8 * height)
        self.cursor = (x, y, width, height, pixels, mask)

    def zrle_rect(self, x, y, width, height):
        data = io.BytesIO(self.zrle.decompress(self.take(self.u32())))
        for top in range(y, y + height, 64):
            for left in range(x, x + width, 64):
                tile_w, tile_h = min(64, x + width - left), min(64, y + height - top)
                self.put(left, top, tile_w, tile_h, b"".join(zrle_tile(data, tile_w, tile_h)), "BGR")

    def tight_size(self):
        size = 0
        for shift in (0, 7, 14):
            byte = self.u8()
            size |= (byte & 0x7F if shift < 14 else byte) << shift
            if not byte & 0x80:
                break
        return size

    def tight_data(self, stream, size):
        return self.take(size) if size < 12 else self.tight[stream].decompress(self.take(self.tight_size()))

    def tight_rect(self, x, y, width, height):
        control = self.u8()
        for stream in range(4):
            if control >> stream & 1:
                self.tight[stream] = zlib.decompressobj()
        kind = control >> 4
        if kind == 8:
            self.put(x, y, width, height, self.take(3) * (width * height), "RGB")
        elif kind == 9:
            self.picture.paste(Image.open(io.BytesIO(self.take(self.tight_size()))).convert("RGB"), (x, y))
        else:
            assert kind < 8, kind
            stream, kind_of_filter = kind & 3, self.u8() if kind & 4 else 0
            if kind_of_filter == 0:
                self.put(x, y, width, height, self.tight_data(stream, width * height * 3), "RGB")
            else:
                assert kind_of_filter == 1, "gradients are not asked for"
                n = self.u8() + 1
                palette = [self.take(3) for _ in range(n)]
                row = (width + 7) // 8 if n == 2 else width
                data = self.tight_data(stream, row * height)
                index = (lambda r, c: data[r * row + c // 8] >> (7 - c % 8) & 1) if n == 2 else (lambda r, c: data[r * row + c])
                self.put(x, y, width, height, b"".join(palette[index(r, c)] for r in range(height) for c in range(width)), "RGB")

    DECODERS = {RAW: raw, COPY: copy, TIGHT: tight_rect, ZRLE: zrle_rect, CURSOR: shape, DESKTOP_SIZE: desktop_size, EXT_SIZE: ext_size}


def zrle_run(data):
    length = 1
    while (byte := data.read(1)[0]) == 255:
        length += 255
    return length + byte


def zrle_tile(data, width, height):
    """The pixels of a tile, three bytes each."""
    kind = data.read(1)[0]
    n = width * height
    if kind == 0:
        return [data.read(3 * n)]
    if kind == 1:
        return [data.read(3)] * n
    if kind == 128:
        pixels = []
        while len(pixels) < n:
            pixel = data.read(3)
            pixels += [pixel] * zrle_run(data)
        return pixels
    palette = [data.read(3) for _ in range(kind & 127)]
    if kind > 128:
        pixels = []
        while len(pixels) < n:
            index = data.read(1)[0]
            pixels += [palette[index & 127]] * (zrle_run(data) if index & 128 else 1)
        return pixels
    bits = 1 if kind == 2 else 2 if kind <= 4 else 4
    pixels = []
    for _ in range(height):
        row = data.read((width * bits + 7) // 8)
        pixels += [palette[row[at * bits // 8] >> (8 - bits - at * bits % 8) & ((1 << bits) - 1)] for at in range(width)]
    return pixels


def ticket(session, role="controller", **body):
    """The answer of POST rfb, asked for with the session's token of this role."""
    return Api(session.api.url, session.tokens[role], session.api.context).call("POST", f"{session.path}/rfb", body)


def watch(session, role="controller", encodings=(RAW,), answer=None, **body):
    """A viewer of the session, through the server's WebSocket; `viewer` is its name there."""
    given = ticket(session, role, **body)
    stream = WebSocket(session.api, f"{session.path}/rfb", given["ticket"])
    assert stream.status == 101, stream.head
    viewer = Rfb(stream, encodings, answer)
    viewer.viewer = given["viewer"]
    return viewer
