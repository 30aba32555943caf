# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a run.

Python's handler only notes a signal while C code runs. It also writes to the wakeup descriptor, at once: a thread waits
there, asks the library to end the run, and passes the byte on to the descriptor that was set before (asyncio's, in a
notebook). When the call has returned, Python raises KeyboardInterrupt.
"""
import _signal  # type: ignore[import-not-found]  # without the enums, which take microseconds
import os
import select
import signal
import threading
from typing import Any, Callable, Optional

from ._library import lib

AGAIN = 0.05  # seconds between two requests: the first may come before the run has begun


class Watcher:
    """The pipe and the thread, made by the first run and kept."""

    def __init__(self) -> None:
        self.read, self.write = os.pipe()
        os.set_blocking(self.read, False)
        os.set_blocking(self.write, False)
        self.stop: Optional[Callable[[], None]] = None  # while a run is in progress
        self.before = -1
        self.asked = False  # Ctrl-C came during the run
        self.process = os.getpid()
        self.poll = select.poll()
        self.poll.register(self.read, select.POLLIN)
        threading.Thread(target=self.watch, name="ambit-interrupt", daemon=True).start()

    def take(self) -> bool:
        """Reads the signals that have come, and passes them on. True: Ctrl-C was among them."""
        try:
            signals = os.read(self.read, 4096)
        except BlockingIOError:  # the other thread has them
            return False
        if self.before >= 0:
            try:
                os.write(self.before, signals)
            except OSError:
                pass
        return signal.SIGINT in signals

    def watch(self) -> None:
        ending: Optional[Callable[[], None]] = None  # the run that a signal is about
        while True:
            if select.select([self.read], [], [], AGAIN if ending else None)[0] and self.take():
                ending = self.stop
            if ending is not self.stop:
                ending = None
            if ending is not None:
                self.asked = True
                ending()


_watcher: Optional[Watcher] = None
MAIN_THREAD = threading.main_thread().ident


class interruptible:
    """A context manager around a call that may take long. Only the main thread receives signals."""

    def __init__(self, context: Any, stop: Optional[Callable[[], None]] = None) -> None:
        self.context, self.stop, self.set = context, stop or self.ask, False

    def ask(self) -> None:
        lib.ambit_stop(self.context._handle)

    def __enter__(self) -> None:
        global _watcher
        if threading.get_ident() != MAIN_THREAD or (_watcher is not None and _watcher.stop is not None):
            return
        if not callable(_signal.getsignal(_signal.SIGINT)):  # ignored, or not Python's
            return
        if _watcher is None or _watcher.process != os.getpid():
            _watcher = Watcher()
        _watcher.asked = False
        _watcher.stop = self.stop
        _watcher.before = _signal.set_wakeup_fd(_watcher.write, warn_on_full_buffer=False)
        self.set = True

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self.set and _watcher is not None:
            _watcher.stop = None
            _signal.set_wakeup_fd(_watcher.before)
            if _watcher.poll.poll(0):  # a signal of this run must not end the next one
                _watcher.asked |= _watcher.take()
            self.set = False
            # An exception at the very beginning or end of a callback is lost in ctypes.
            if _watcher.asked and kind is None and self.context._raised is None and (
                    _signal.getsignal(_signal.SIGINT) is signal.default_int_handler):
                raise KeyboardInterrupt
