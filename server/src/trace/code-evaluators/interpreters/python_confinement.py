"""
Confines a process for good: it keeps the descriptors that it has, and of the kernel only memory, time, signals of its
own, random numbers and its end. Every other system call fails with EPERM. Needs Linux and no privilege: a filter of
system calls may be installed by any process that gives up new privileges (seccomp(2)).
"""

import ctypes
import errno
import os
import resource
import struct

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_RET_ERRNO = 0x00050000
SECCOMP_RET_KILL_PROCESS = 0x80000000
PROT_EXEC = 4
# offsets in struct seccomp_data; the low half of the third argument, as both architectures are little-endian
NR, ARCH, THIRD_ARGUMENT = 0, 4, 32
# BPF: load a word, compare, return
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# system calls of the x32 ABI have their own numbers on x86_64
X32 = 0x40000000

# allowed; those of MAPS without executable memory
# fmt: off
SYSTEM_CALLS = {
    "x86_64": {
        "audit": 0xC000003E,
        "maps": {"mmap": 9, "mprotect": 10},
        "allowed": {
            "read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8, "munmap": 11, "brk": 12, "rt_sigaction": 13,
            "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28, "nanosleep": 35,
            "setitimer": 38, "getpid": 39, "exit": 60, "gettimeofday": 96, "sigaltstack": 131, "gettid": 186, "time": 201, "futex": 202,
            "restart_syscall": 219, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230,
            "exit_group": 231, "getrandom": 318,
        },
    },
    "aarch64": {
        "audit": 0xC00000B7,
        "maps": {"mmap": 222, "mprotect": 226},
        "allowed": {
            "read": 63, "write": 64, "close": 57, "fstat": 80, "lseek": 62, "munmap": 215, "brk": 214,
            "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "sched_yield": 124, "mremap": 216,
            "madvise": 233, "nanosleep": 101, "setitimer": 103, "getpid": 172, "exit": 93, "gettimeofday": 169, "sigaltstack": 132,
            "gettid": 178, "futex": 98, "restart_syscall": 128, "clock_gettime": 113, "clock_getres": 114,
            "clock_nanosleep": 115, "exit_group": 94, "getrandom": 278,
        },
    },
}
# fmt: on


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


class Confinement:
    """The filter for this machine, ready to be installed after a fork. Raises OSError where there is none."""

    def __init__(self):
        machine = os.uname().machine
        if os.uname().sysname != "Linux" or machine not in SYSTEM_CALLS or struct.calcsize("P") != 8:
            raise OSError(errno.ENOSYS, f"no filter of system calls for {os.uname().sysname} on {machine}")
        code = _compile(**SYSTEM_CALLS[machine])
        self._program = _Program(len(code) // 8, code)
        self._prctl = ctypes.CDLL(None, use_errno=True).prctl

    def end_with_parent(self, parent, signal):
        """Ends this process when its parent ends, even if that has happened already."""
        self._call(PR_SET_PDEATHSIG, signal)
        if os.getppid() != parent:
            os._exit(1)

    def install(self):
        self._call(PR_SET_NO_NEW_PRIVS, 1)
        self._call(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(self._program))

    def _call(self, *arguments):
        padded = [ctypes.c_ulong(each) for each in (*arguments, 0, 0, 0, 0)][:5]
        if self._prctl(*padded) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def _compile(audit, maps, allowed):
    def instruction(code, value, on_true=0, on_false=0):
        return struct.pack("<HBBI", code, on_true, on_false, value)

    deny = instruction(RETURN, SECCOMP_RET_ERRNO | errno.EPERM)
    allow = instruction(RETURN, SECCOMP_RET_ALLOW)
    program = [
        instruction(LOAD, ARCH),
        instruction(JUMP_EQUAL, audit, on_true=1),
        instruction(RETURN, SECCOMP_RET_KILL_PROCESS),
        instruction(LOAD, NR),
        instruction(JUMP_AT_LEAST, X32, on_false=1),
        instruction(RETURN, SECCOMP_RET_KILL_PROCESS),
    ]
    for number in allowed.values():
        program += [instruction(JUMP_EQUAL, number, on_false=1), allow]
    for number in maps.values():
        program += [
            instruction(JUMP_EQUAL, number, on_false=4),
            instruction(LOAD, THIRD_ARGUMENT),
            instruction(JUMP_SET, PROT_EXEC, on_false=1),
            deny,
            allow,
        ]
    return b"".join([*program, deny])


def limit(memory_bytes, seconds):
    """Limits memory beyond what the process has, processor time, files and forks."""
    with open("/proc/self/statm") as file:
        present = int(file.read().split()[0]) * resource.getpagesize()
    for kind, value in (
        (resource.RLIMIT_AS, present + memory_bytes),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (value, value))
