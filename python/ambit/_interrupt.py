# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C during a run.

Python's handler only notes a signal while C code runs. It also writes to the wakeup descriptor, at once: a thread waits
there, asks the library to end the run, and passes the byte on to the descriptor that was set before (asyncio's, in a
notebook). When the call has returned, Python raises KeyboardInterrupt.
"""
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
        self.process = os.getpid()
        threading.Thread(target=self.watch, name="ambit-interrupt", daemon=True).start()

    def watch(self) -> None:
        ending: Optional[Callable[[], None]] = None  # the run that a signal is about; never one that begins later
        while True:
            if select.select([self.read], [], [], AGAIN if ending else None)[0]:
                signals = os.read(self.read, 4096)
                if signal.SIGINT in signals:
                    ending = self.stop
                if self.before >= 0:
                    try:
                        os.write(self.before, signals)
                    except OSError:
                        pass
            if ending is not self.stop:
                ending = None
            if ending is not None:
                ending()


_watcher: Optional[Watcher] = None


class interruptible:
    """A context manager around a call that may take long. Only the main thread receives signals."""

    def __init__(self, context: Any, stop: Optional[Callable[[], None]] = None) -> None:
        self.stop = stop or (lambda: lib.ambit_stop(context._handle))
        self.set = False

    def __enter__(self) -> None:
        global _watcher
        if threading.current_thread() is not threading.main_thread() or (_watcher is not None and _watcher.stop is not None):
            return
        if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
            return
        if _watcher is None or _watcher.process != os.getpid():
            _watcher = Watcher()
        _watcher.stop = self.stop
        _watcher.before = signal.set_wakeup_fd(_watcher.write, warn_on_full_buffer=False)
        self.set = True

    def __exit__(self, *unused: Any) -> None:
        if self.set and _watcher is not None:
            _watcher.stop = None
            signal.set_wakeup_fd(_watcher.before)
            self.set = False
