"""A link as operators have it in the field (paper 002, section 2; DARPA's trials and finals): slow all the time, and fast
in bursts. It knows no clock: every call says what time it is, so that a run in simulated time repeats.

    up     9.6 kbit/s, always                      orders
    down   9.6 kbit/s, always                      state
           bursts of 1 s, some seconds apart       pictures and scans

Messages come out in the order in which they went in, each once, after the time that its bits take and the latency."""
from __future__ import annotations

import collections


class Line:
    """So many bits a second, all the time. `most`: bytes that may wait; what is more is dropped, oldest first."""

    def __init__(self, bits_per_s: float, latency: float = 0.0, most: int = 1 << 20) -> None:
        self.bits_per_s, self.latency, self.most = bits_per_s, latency, most
        self.queue: collections.deque = collections.deque()  # (bytes left to send, message)
        self.flying: collections.deque = collections.deque()  # (arrives, message)
        self.now = 0.0
        self.sent = self.dropped = 0

    def waiting(self) -> int:
        return int(sum(left for left, _ in self.queue))

    def put(self, now: float, message: bytes) -> None:
        self.advance(now)
        self.queue.append([len(message), message])
        while len(self.queue) > 1 and self.waiting() > self.most:
            self.queue.popleft()
            self.dropped += 1

    def take(self, now: float) -> list[bytes]:
        """What has arrived by now."""
        self.advance(now)
        out = []
        while self.flying and self.flying[0][0] <= now:
            out.append(self.flying.popleft()[1])
        return out

    def open_until(self, now: float) -> tuple[bool, float]:
        """Whether bits pass at `now`, and until when that stays so."""
        return True, float("inf")

    def advance(self, now: float) -> None:
        while self.now < now:
            is_open, until = self.open_until(self.now)
            end = min(now, until)
            if is_open:
                self._pass(end)
            self.now = end

    def _pass(self, end: float) -> None:
        at = self.now
        while self.queue:
            needs = self.queue[0][0] * 8 / self.bits_per_s
            if at + needs > end:
                self.queue[0][0] -= (end - at) * self.bits_per_s / 8
                return
            at += needs
            message = self.queue.popleft()[1]
            self.sent += len(message)
            self.flying.append((at + self.latency, message))


class BurstLine(Line):
    """Open for `length` seconds, every `every` seconds; closed in between."""

    def __init__(self, bits_per_s: float, every: float, length: float, latency: float = 0.0, most: int = 1 << 20) -> None:
        super().__init__(bits_per_s, latency, most)
        self.every, self.length = every, length

    def open_until(self, now: float) -> tuple[bool, float]:
        if self.length >= self.every:
            return True, float("inf")
        count = int(now / self.every + 1e-9)
        begin = count * self.every
        if now < begin + self.length - 1e-9:
            return True, begin + self.length
        return False, (count + 1) * self.every
