"""The app's preprocessing of a photograph, written from Docs/apps.md section 9 alone: floats throughout, nothing
fused, nothing clever, noise reduction left out. What `swiftwing-sim preprocess --no-denoise` makes is held against it.

    photo_reference.py sources DIR          writes photographs that packages ship, and variations of them, as JPEGs
    photo_reference.py compare SOURCES MADE one JSON object a line for each NAME.jpg of SOURCES: how MADE/NAME.jpg and
                                            MADE/NAME.json, what `preprocess` printed, differ from what they should be
"""

import io
import json
import pathlib
import site
import sys

import numpy
from PIL import Image

QUALITY = 85
LONG_SIDE_MAX = 1920
LUMA = numpy.array([0.299, 0.587, 0.114])


def decoded(jpeg):
    """Channels from 0 to 1, the orientation tag ignored."""
    return numpy.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"), dtype=numpy.float64) / 255


def encoded(picture, quality=QUALITY, subsampling="4:2:0"):
    levels = numpy.rint(numpy.clip(picture, 0, 1) * 255).astype(numpy.uint8)
    file = io.BytesIO()
    Image.fromarray(levels).save(file, "JPEG", quality=quality, subsampling=subsampling)
    return file.getvalue()


def rotated(picture):
    """Step 1. Pixel (u, v) goes to (h - 1 - v, u)."""
    height, width = picture.shape[:2]
    if not height / width > 2.0:
        return picture, False
    turned = numpy.empty((width, height, 3))
    for v in range(height):
        turned[:, height - 1 - v] = picture[v]
    return turned, True


def contrasted(picture):
    """Step 2."""
    return (picture - 0.5) * 1.5 + 0.5


def luminance(picture):
    """Step 3a. However the picture is scaled first, the average of its area is the average of its area."""
    pixel = numpy.rint(numpy.clip(picture.mean(axis=(0, 1)), 0, 1) * 255)
    return float(pixel @ LUMA)


def adjustment(light):
    """Step 3b."""
    if light < 100:
        return min(0.1 + (100 - light) / 500, 0.2)
    if light > 180:
        return max(-0.1 - (light - 180) / 500, -0.2)
    return 0.0


def resized(picture):
    """The rules under "Resize"; a fraction of a pixel is rounded, and at least one pixel stays."""
    height, width = picture.shape[:2]
    aspect = width / height
    if width > height:
        new_width = min(width, LONG_SIDE_MAX)
        new_height = new_width / aspect
    else:
        new_height = min(height, LONG_SIDE_MAX)
        new_width = new_height * aspect
    if new_width >= width and new_height >= height:
        return picture
    size = (max(1, round(new_width)), max(1, round(new_height)))
    channels = [
        numpy.asarray(Image.fromarray(picture[:, :, c].astype(numpy.float32)).resize(size, Image.Resampling.BILINEAR))
        for c in range(3)
    ]
    return numpy.stack(channels, axis=-1)


def preprocessed(jpeg):
    picture, was_rotated = rotated(decoded(jpeg))
    picture = contrasted(picture)
    added = adjustment(luminance(picture))
    first = encoded(picture + added)
    return encoded(resized(decoded(first))), was_rotated, added


def compare(sources, made):
    for source in sorted(sources.glob("*.jpg")):
        expected, was_rotated, added = preprocessed(source.read_bytes())
        said = json.loads((made / source.name).with_suffix(".json").read_text())
        ours, theirs = decoded((made / source.name).read_bytes()), decoded(expected)
        same = ours.shape == theirs.shape
        print(json.dumps({
            "name": source.name,
            "rotated": was_rotated,
            "rotationIsEqual": said["wasRotated"] == was_rotated,
            "brightnessAdjustment": round(added, 4),
            "brightnessDifference": round(abs(said["brightnessAdjustment"] - added), 4),
            "width": theirs.shape[1],
            "height": theirs.shape[0],
            "sizeIsEqual": same,
            "meanDifference": round(float(numpy.abs(ours - theirs).mean() * 255), 3) if same else 255,
            "meanLevel": round(float(ours.mean() * 255), 2),
        }))


def package_pictures():
    """Those that can be found; the packages themselves are not imported."""
    names = {
        "skimage/data": ["astronaut.png", "chelsea.png", "coffee.png", "motorcycle_left.png", "rocket.jpg",
                         "retina.jpg", "hubble_deep_field.jpg"],
        "sklearn/datasets/images": ["china.jpg", "flower.jpg"],
    }
    for folder, files in names.items():
        for file in files:
            path = pathlib.Path(site.getsitepackages()[0]) / folder / file
            yield path.stem, Image.open(path).convert("RGB")


def write_sources(folder):
    def write(name, picture, subsampling="4:2:0", **options):
        picture.save(folder / f"{name}.jpg", "JPEG", quality=92, subsampling=subsampling, **options)

    noise = numpy.random.default_rng(4)
    for name, picture in package_pictures():
        write(name, picture)
        if name == "china":
            width, height = picture.size
            # As large as phones take them, with a sensor's noise.
            large = numpy.asarray(picture.resize((4032, 4032 * height // width), Image.Resampling.LANCZOS), dtype=float)
            grainy = numpy.clip(numpy.rint(large + noise.normal(0, 3, large.shape)), 0, 255).astype(numpy.uint8)
            write("china-large", Image.fromarray(grainy))
            write("china-dark", picture.point(lambda level: level * 0.45))
            write("china-bright", picture.point(lambda level: 255 - (255 - level) * 0.35))
            write("china-tall", picture.crop((100, 0, 101 + height // 3, height)))
            write("china-wide", picture.crop((0, 200, width, 261)))
            write("china-full-chroma", picture, "4:4:4")
            write("china-half-chroma", picture, "4:2:2")
            write("china-progressive", picture, progressive=True)
            write("china-grey", picture.convert("L"))
            turned = Image.Exif()
            turned[0x0112] = 6
            write("china-turned-by-its-tag", picture, exif=turned)
    for name, level in [("black", 0), ("grey", 128), ("white", 255)]:
        write(name, Image.new("RGB", (640, 480), (level, level, level)))
    for name, color in [("red", (230, 20, 10)), ("blue", (10, 20, 200)), ("yellow", (250, 240, 20))]:
        write(name, Image.new("RGB", (333, 222), color))
    # Twice as high as wide, and not more, is not rotated.
    write("twice", Image.new("RGB", (200, 400), (90, 120, 60)))


if __name__ == "__main__":
    if sys.argv[1] == "sources":
        write_sources(pathlib.Path(sys.argv[2]))
    else:
        compare(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
