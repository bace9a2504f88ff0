from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image

from backshop.base import limits
from backshop.formats import FormatError, Selector, Warn
from backshop.formats.package.package import Package
from backshop.formats.picture import image

from .archives import TYPES, archive, source


def picture(mode: str, form: str, frames: int = 1, **options: object) -> bytes:
    buffer = BytesIO()
    pages = [Image.new(mode, (30, 20), color=number * 80) for number in range(frames)]
    more = {"save_all": True, "append_images": pages[1:]} if frames > 1 else {}
    pages[0].save(buffer, form, **more, **options)
    return buffer.getvalue()


@pytest.mark.rule("F13.1", "F15.1")
@pytest.mark.parametrize(
    ("name", "data", "facts"),
    [
        ("a.png", picture("RGBA", "PNG"), ("png", 30, 20, 32, 1, True)),
        ("a.png", picture("1", "PNG"), ("png", 30, 20, 1, 1, False)),
        ("a.jpg", picture("L", "JPEG"), ("jpeg", 30, 20, 8, 1, False)),
        ("a.gif", picture("L", "GIF", 3), ("gif", 30, 20, 8, 3, False)),
        ("a.webp", picture("RGB", "WEBP"), ("webp", 30, 20, 24, 1, False)),
        ("a.svg", b'<svg width="2in" viewBox="0 0 9 7"/>', ("svg", 192, 7, None, 1, True)),
        ("a.svg", b'<svg width="100%"/>', ("svg", None, None, None, 1, True)),
        ("a.svg", b'<svg width="1.2.3" height="."/>', ("svg", None, None, None, 1, True)),
        ("a.svg", b'<svg width=" .5e2 " height="7.PX"/>', ("svg", 50, 7, None, 1, True)),
        ("a.svg", b'<svg width="%b"/>' % (b"9" * 400), ("svg", None, None, None, 1, True)),
    ],
    ids=["rgba", "bits", "jpeg", "gif", "webp", "inches", "percent", "dots", "short", "huge"],
)
def test_a_picture_is_measured(tmp_path, name, data, facts):
    file = source(tmp_path, name, data)
    keys = ("format", "width", "height", "color_depth", "frames", "has_alpha")
    wanted = dict(zip(keys, facts, strict=True))

    drawn = image.get_map(file)

    assert {"format": drawn.format, **drawn.data} == wanted
    assert image.get_info(file) == {key: wanted[key] for key in ("format", "width", "height")}


@pytest.mark.rule("F13.2")
def test_reading_a_picture_describes_it(tmp_path):
    file = source(tmp_path, "a.gif", picture("L", "GIF", 3))

    part = image.read(file, Selector())

    assert part.text.startswith("gif, 30x20 pixels, 8 bits per pixel, 3 frames, without transp")
    assert part.warnings == (Warn("content_not_textual"),)


@pytest.mark.rule("F13.1")
def test_places_where_pictures_were_taken_are_not_reported(tmp_path):
    exif = Image.Exif()
    exif[0x8825] = {1: "N", 2: (52.0, 31.0, 7.0)}
    file = source(tmp_path, "a.jpg", picture("RGB", "JPEG", exif=exif))

    answers = f"{image.get_map(file)} {image.read(file, Selector())} {image.get_info(file)}"

    assert "GPS" not in answers
    assert "52" not in answers.replace(str(file.size_bytes), "")


@pytest.mark.rule("F3")
@pytest.mark.parametrize("cut", [10, 40, 60])
def test_a_damaged_picture_is_damage(tmp_path, cut):
    file = source(tmp_path, "a.png", picture("RGB", "PNG")[:cut])

    try:
        image.get_map(file)
    except FormatError as error:
        assert error.reason == "corrupt_file"


@pytest.mark.parametrize("kind", ["odt", "docx"])
def test_the_pictures_of_an_office_file_are_told_by_one_look_at_its_types(
    tmp_path, monkeypatch, kind
):
    parsed = []
    xml = Package.xml

    def counted(self, name):
        parsed.append(name)
        return xml(self, name)

    monkeypatch.setattr(Package, "xml", counted)
    types = TYPES.replace(
        b"<Default", b'<Default Extension="png" ContentType="image/png"/><Default', 1
    )
    head = "content.xml" if kind == "odt" else "[Content_Types].xml"
    parts = {f"media/{number}.{'png' if number % 2 else 'xml'}": b"x" for number in range(40)}
    file = source(tmp_path, f"a.{kind}", archive({head: types, **parts}))

    found = image.picture_parts(file)

    assert list(found) == [name for name in parts if name.endswith("png")]
    assert parsed == ([] if kind == "odt" else [head])
    with pytest.raises(FormatError) as caught:
        image.render_part(file, "0.xml")
    assert caught.value.reason == "bad_index"


@pytest.mark.rule("F4.6")
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize(("most", "is_shown"), [(600, True), (599, False), (299, False)])
def test_a_picture_inside_a_file_is_not_drawn_beyond_the_limit_of_pixels(
    tmp_path, monkeypatch, most, is_shown
):
    monkeypatch.setattr(limits, "IMAGE_MAX_PIXELS", most)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", Image.MAX_IMAGE_PIXELS)
    parts = {"content.xml": b"<x/>", "Pictures/1.png": picture("RGB", "PNG")}  # of 600 pixels
    file = source(tmp_path, "a.odt", archive(parts))

    if is_shown:
        assert image.render_part(file, "1.png")[1:] == (1, False)
        return
    with pytest.raises(FormatError) as caught:
        image.render_part(file, "1.png")
    assert caught.value.reason == "too_large"
