"""Makes the files beside this script, with the programs whose formats they are.

    pip install numpy safetensors
    python make.py

Made with NumPy 2.4.6 and safetensors 0.8.0. Run it in this folder; the tests state what is in the files.
"""

import numpy as np
import safetensors

grid = np.arange(6).reshape(2, 3)

# Sound arrays.
np.save("c_order.npy", grid.astype("<f4"))
np.save("fortran.npy", np.asfortranarray(grid.astype("<f8")))
np.save("rank0.npy", np.array(-7, "<i8"))
np.save("empty.npy", np.zeros((0, 3), "<i4"))
np.save("bool.npy", np.array([True, False, True]))
np.save("half.npy", np.array([1.5, -2.0, np.inf], "<f2"))
np.save("complex.npy", np.array([[1 + 2j], [3 - 4j]], "<c16"))
np.save("uint64.npy", np.array([0, 2**64 - 1], "<u8"))
np.save("int8.npy", np.array([-128, 127], "i1"))
np.save("big_i4.npy", (grid - 3).astype(">i4"))
np.save("big_f2.npy", np.array([0.5, -1.0], ">f2"))
np.save("big_c8.npy", np.asfortranarray((grid + 1j * grid[::-1]).astype(">c8")))
for version in (2, 3):
    with open(f"version{version}.npy", "wb") as file:
        np.lib.format.write_array(file, grid.astype("<u2"), version=(version, 0))
with open("two_in_a_row.npy", "wb") as file:
    np.save(file, np.array([1, 2], "u1"))
    np.save(file, np.array([3.0], "<f4"))

# Arrays that no tensor can hold.
np.save("bad_record.npy", np.zeros(2, [("x", "<f4"), ("y", "<i4")]))
np.save("bad_object.npy", np.array([None, {}]), allow_pickle=True)
np.save("bad_string.npy", np.array(["ab", "c"]))
np.save("bad_date.npy", np.array(["2026-01-01"], "M8[D]"))
np.save("bad_longdouble.npy", np.array([1], np.longdouble))

# Archives.
arrays = {"weight": np.asfortranarray(grid.astype("<f4")), "bias/0": np.array([1, 2], "<i8"), "größe": np.array(3.5)}
np.savez("stored.npz", **arrays)
np.savez_compressed("deflated.npz", zeros=np.zeros((100, 1000), "<f8"), **arrays)


def write(path, tensors, metadata=None):
    """`tensors` maps names to (dtype, shape, array whose bytes are the data)."""
    specs = {
        name: safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=array.ctypes.data, data_len=array.nbytes)
        for name, (dtype, shape, array) in tensors.items()
    }
    with open(path, "wb") as file:
        file.write(safetensors.serialize(specs, metadata))


write(
    "sound.safetensors",
    {
        "weight": ("float32", [2, 3], grid.astype("<f4")),
        "half": ("float16", [3], np.array([1.5, -2.0, np.inf], "<f2")),
        "brain": ("bfloat16", [2], np.array([0x3F80, 0xC000], "<u2")),
        "mask": ("bool", [3], np.array([True, False, True])),
        "count": ("int64", [], np.array(-7, "<i8")),
        "none": ("uint8", [0, 4], np.zeros((0, 4), "u1")),
        "wave": ("complex64", [1], np.array([1 - 2j], "<c8")),
    },
    {"made": "by safetensors", "größe": "ja"},
)
write("bad_float8.safetensors", {"x": ("float8_e4m3fn", [1], np.array([0x38], "u1"))})
