#!/usr/bin/env python3
"""without_io_uring.py COMMAND...: runs it where the system refuses io_uring, as Docker's filter of system calls does.

A real filter (seccomp) answers the three calls of io_uring with EPERM, for the command and all that it starts. Before
the command begins it is asked whether it holds; if not, the exit code is 97.
"""
import ctypes
import errno
import os
import struct
import sys

# The same numbers on every architecture: io_uring_setup, _enter, _register.
FIRST, LAST = 425, 427
PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
ALLOW, DENY = 0x7FFF0000, 0x00050000 | errno.EPERM
LOAD_NUMBER, AT_LEAST, ABOVE, RETURN = 0x20, 0x35, 0x25, 0x06  # BPF: what is loaded is the number of the call

PROGRAM = [(LOAD_NUMBER, 0, 0, 0), (AT_LEAST, 0, 2, FIRST), (ABOVE, 1, 0, LAST), (RETURN, 0, 0, DENY),
           (RETURN, 0, 0, ALLOW)]


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("rules", ctypes.c_char_p)]


def deny():
    libc = ctypes.CDLL(None, use_errno=True)
    rules = b"".join(struct.pack("=HBBI", *rule) for rule in PROGRAM)
    given = Filter(len(PROGRAM), rules)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(
            PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(given), 0, 0) != 0:
        sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")
    for number in range(FIRST, LAST + 1):
        if libc.syscall(number, 0, None, 0, 0, None, 0) != -1 or ctypes.get_errno() != errno.EPERM:
            print(f"the filter does not deny system call {number}", file=sys.stderr)
            sys.exit(97)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    deny()
    os.execvp(sys.argv[1], sys.argv[1:])
