# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions, one per status of ambit.h. Each has the whole message, with file, line and caret where there is one."""
from typing import Dict, Type

from . import _declarations as c


class Error(Exception):
    """A call of Ambit failed. `status` is the code of ambit.h."""

    status: int = -1


class InvalidArgument(Error, ValueError):
    """An argument is out of its range, or of the wrong size (AMBIT_EINVAL)."""


class KernelError(Error, ValueError):
    """A kernel is wrong; the message points at the place (AMBIT_EKERNEL)."""


class ProgramError(Error, RuntimeError):
    """A program cannot run as it is (AMBIT_EPROGRAM)."""


class Unsupported(Error, NotImplementedError):
    """Ambit does not support this (AMBIT_EUNSUPPORTED)."""


class OutOfMemory(Error, MemoryError):
    """Out of memory (AMBIT_ENOMEM)."""


class NoDevice(Error, RuntimeError):
    """The device is not available (AMBIT_ENODEVICE)."""


class CompileError(Error, RuntimeError):
    """A compiler failed (AMBIT_ECOMPILE)."""


class DeviceError(Error, RuntimeError):
    """A device failed (AMBIT_EDEVICE)."""


class FileError(Error, OSError):
    """A file cannot be read or written (AMBIT_EIO)."""


class OptionError(Error, ValueError):
    """An option is unknown or has a wrong value (AMBIT_EOPTION)."""


class ProcessError(Error, RuntimeError):
    """The processes of a run failed, or did not do the same (AMBIT_EPROCESS)."""


class ViewError(Error, BufferError):
    """Memory cannot be shown without a copy, or a view of it is still in use."""


BY_STATUS: Dict[int, Type[Error]] = {
    c.AMBIT_ENOMEM: OutOfMemory,
    c.AMBIT_EINVAL: InvalidArgument,
    c.AMBIT_EKERNEL: KernelError,
    c.AMBIT_EPROGRAM: ProgramError,
    c.AMBIT_EUNSUPPORTED: Unsupported,
    c.AMBIT_ENODEVICE: NoDevice,
    c.AMBIT_ECOMPILE: CompileError,
    c.AMBIT_EDEVICE: DeviceError,
    c.AMBIT_EIO: FileError,
    c.AMBIT_EOPTION: OptionError,
    c.AMBIT_EPROCESS: ProcessError,
}
for _status, _kind in BY_STATUS.items():
    _kind.status = _status


def error_of(status: int, message: str) -> Error:
    """The exception for a status."""
    e = BY_STATUS.get(status, Error)(message)
    e.status = status
    return e
