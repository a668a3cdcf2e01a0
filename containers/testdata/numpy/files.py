# Writes and reads files of arrays of every dtype with NumPy:
#
#	python3 files.py write DIR   # writes the files
#	python3 files.py read DIR    # says what is wrong with files of the same names that SaveNPY has written
#	python3 files.py text DIR    # prints the files as a text: files.txt beside this file
import base64
import sys
from pathlib import Path

import numpy as np
from numpy.lib import format

COUNT = 7
base = np.arange(COUNT) * 37 - 3


def arrays():
    yield "bool", base % 2 == 1
    for bits in 8, 16, 32, 64:
        yield f"int{bits}", base.astype(f"int{bits}")
        yield f"uint{bits}", base.astype(f"uint{bits}")
    for bits in 32, 64:
        yield f"float{bits}", (base + 0.25).astype(f"float{bits}")
        yield f"complex{2 * bits}", (base - 2j * base).astype(f"complex{2 * bits}")
    yield "rows", (base[:, None] + np.array([0, 0.5, -0.5])).astype("float64")
    yield "boxes", (base[:, None, None] + np.array([[0, 1, 2], [3, 4, 5]])).astype("int16")


def others():
    yield "big", base.astype(">i8"), None
    yield "fortran", np.asfortranarray(dict(arrays())["rows"]), None
    yield "struct", np.zeros(COUNT, dtype=[("x", "<f8"), ("y", "<i4")]), None
    yield "scalar", np.array(5), None
    yield "version2", base.astype("int64"), (2, 0)
    yield "version3", base.astype("int64"), (3, 0)


def write(folder):
    for name, x in arrays():
        np.save(folder / name, x)
    for name, x, version in others():
        with open(folder / (name + ".npy"), "wb") as f:
            format.write_array(f, x, version)


def read(folder):
    for name, want in arrays():
        got = np.load(folder / (name + ".npy"))
        if got.dtype != want.dtype or got.shape != want.shape or not np.array_equal(got, want):
            sys.exit(f"{name}: {got.dtype} {got.shape} {got}, want {want.dtype} {want.shape} {want}")
        if not got.flags.c_contiguous:
            sys.exit(f"{name} is not contiguous")


def text(folder):
    for path in sorted(folder.glob("*.npy")):
        print(path.stem, base64.b64encode(path.read_bytes()).decode())


{"write": write, "read": read, "text": text}[sys.argv[1]](Path(sys.argv[2]))
