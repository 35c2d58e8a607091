"""A federate in Python, with nothing but what Python brings: python3 federate.py ws://localhost:4600

It owns a train that moves by 25 m a second, tells where it is a second ahead, and is at the end
after ten seconds.
"""
import base64, json, os, socket, struct, sys
from urllib.parse import urlparse


class Federate:
    def __init__(self, url, token=""):
        u = urlparse(url)
        self.sock = socket.create_connection((u.hostname, u.port or 80))
        key = base64.b64encode(os.urandom(16)).decode()
        self.sock.sendall((
            f"GET /federation/v1/ws HTTP/1.1\r\nHost: {u.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {token}\r\n\r\n").encode())
        self.file = self.sock.makefile("rb")
        status = self.file.readline()
        if b" 101 " not in status:
            sys.exit(f"the federation answers {status.decode().strip()}")
        while self.file.readline() != b"\r\n":
            pass
        self.notices, self.calls = [], 0

    def read(self):
        """Waits for a message, and returns its lines."""
        kind, size = struct.unpack("!BB", self.file.read(2))
        if size > 125:
            size = struct.unpack("!H" if size == 126 else "!Q", self.file.read(2 if size == 126 else 8))[0]
        data = self.file.read(size)
        if kind == 0x88:
            sys.exit("the federation has ended the connection")
        return [json.loads(line) for line in data.splitlines()] if kind == 0x81 else []

    def call(self, call, **how):
        """Asks for something, and returns what came of it."""
        self.calls += 1
        data = json.dumps({"id": self.calls, "call": call, **how}).encode()
        mask = os.urandom(4)
        head = struct.pack("!BBH", 0x81, 0x80 | 126, len(data)) + mask
        self.sock.sendall(head + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))
        while True:
            reply = None
            for line in self.read():
                if "reply" in line:
                    reply = line
                else:
                    self.notices.append(line)
            if reply:
                if "error" in reply:
                    sys.exit(f"{call}: {reply['error']}")
                return reply

    def wait(self, kind):
        """Waits until it is told something, and returns that."""
        while True:
            while self.notices:
                notice = self.notices.pop(0)
                if notice["notice"] == kind:
                    return notice
            self.notices += [line for line in self.read() if "notice" in line]


f = Federate(*sys.argv[1:])
f.call("join", federation="rails", name="trains", model={"classes": [
    {"name": "train", "attributes": [{"name": "metres", "order": "time"}]}]})
f.call("publish", **{"class": "train"}, attributes=["metres"])
f.call("regulate", lookahead=1000)  # times are in milliseconds
now = f.wait("regulating").get("time", 0)
train = f.call("register", **{"class": "train"}, name="express")["object"]
for _ in range(10):
    metres = str((now + 1000) * 25 // 1000).encode()
    f.call("update", object=train, time=now + 1000,
           values={"metres": base64.b64encode(metres).decode()})
    f.call("advance", time=now + 1000)
    now = f.wait("granted")["time"]
f.call("delete", object=train, time=now + 1000)
f.call("resign")
print("the train has gone", metres.decode(), "m")
