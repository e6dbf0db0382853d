"""Small images of every kind, and what Pillow reads in them, as NumPy files: runtime/tests/reference/images.txt.

    pip install numpy pillow
    python scripts/reference/images.py > runtime/tests/reference/images.txt
"""

import io

import numpy as np
from PIL import Image

random = np.random.default_rng(0)


def show(name, data):
    print(name, data.hex())


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def case(name, image, **options):
    out = io.BytesIO()
    form = "JPEG" if name.endswith("jpg") else "PNG"
    image.save(out, form, **options)
    show(name, out.getvalue())
    read = Image.open(io.BytesIO(out.getvalue()))
    if read.mode == "P":
        read = read.convert("RGBA" if "transparency" in read.info else "RGB")
    if read.mode == "1":
        read = read.convert("L")
    array = np.asarray(read)
    if read.mode.startswith("I"):
        array = array.astype(np.uint16)
    show(name + ".npy", npy(array.reshape(array.shape[0], array.shape[1], -1)))


def noise(*shape, dtype=np.uint8):
    return random.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


# Soft colours: a jpeg of noise says more of how a decoder rounds than of what it reads.
ramp = np.add.outer(np.arange(9) * 9, np.arange(14) * 7)
soft = np.stack([ramp, 200 - ramp, ramp // 2 + 60], axis=-1).astype(np.uint8)

case("grey.png", Image.fromarray(noise(3, 4)))
case("color.png", Image.fromarray(noise(3, 4, 3)))
case("alpha.png", Image.fromarray(noise(2, 5, 4)))
case("grey_alpha.png", Image.fromarray(noise(2, 3, 2), "LA"))
case("deep.png", Image.fromarray(noise(3, 2, dtype=np.uint16)))
case("bits.png", Image.fromarray(noise(3, 9) > 99))
case("palette.png", Image.fromarray(soft).quantize(16))
case("one.png", Image.fromarray(noise(1, 1, 3)))
case("grey.jpg", Image.fromarray(ramp.astype(np.uint8)), quality=95)
case("color.jpg", Image.fromarray(soft), quality=95, subsampling=0)
case("progressive.jpg", Image.fromarray(soft), quality=95, progressive=True, subsampling=0)
