from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backshop.formats.text.encoding import decode, detect, transcode

from .archives import source

WESTERN = "Año,Señor,Größe,café\nÜber,naïve,£5,€ 10\nGarçon – “quoted” – 20 °C\n"
JAPANESE = "名前,住所,電話番号\n田中太郎,東京都千代田区,ありがとうございます\n鈴木,大阪,カタカナ\n"
CHINESE = "姓名,地址,电话\n张三,北京市朝阳区,你好世界\n李四,上海,这是一个测试文件\n"


@pytest.mark.rule("F6.1")
@pytest.mark.parametrize(
    ("text", "codec", "name", "certain"),
    [
        (WESTERN, "utf-8", "utf-8", True),
        (WESTERN, "utf-8-sig", "utf-8", True),
        (WESTERN, "utf-16", "utf-16-le", True),
        (CHINESE, "utf-32", "utf-32-le", True),
        (WESTERN, "utf-16-le", "utf-16-le", False),
        (CHINESE, "utf-16-be", "utf-16-be", False),
        ("id;n\n1;\u0100\n" * 9000 + "x", "utf-16-le", "utf-16-le", False),
        (WESTERN, "cp1252", "cp1252", False),
        ("id,name\n1,ñandú\n", "cp1252", "cp1252", False),
        ("id,name\n1,Müller\n2,Åse\n", "latin-1", "cp1252", False),
        ("ñ\n", "cp1252", "cp1252", False),
        (JAPANESE, "shift-jis", "cp932", False),
        ("商品,数量\nりんご,3\n", "shift-jis", "cp932", False),
        (CHINESE, "gb18030", "gb18030", False),
        ("产品,数量\n苹果,3\n", "gb18030", "gb18030", False),
        ("plain ascii\n", "ascii", "utf-8", True),
        ("", "ascii", "utf-8", True),
    ],
)
def test_encodings_are_found_or_declared_uncertain(tmp_path, text, codec, name, certain):
    file = source(tmp_path, "a.csv", text.encode(codec))

    found = detect(file)

    assert (found.name, found.guessed) == (name, not certain)
    assert decode(file.path.read_bytes(), found) == text
    assert found.encode(text) == file.path.read_bytes()
    transcode(file, found, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == text.encode()


@pytest.mark.rule("F6.1")
@given(data=st.binary(max_size=300))
def test_whatever_is_found_decodes_the_whole_file(tmp_path_factory, data):
    file = source(tmp_path_factory.mktemp("e"), "a.txt", data)

    found = detect(file)

    decode(data, found)
    assert codecs.lookup(found.name)


@pytest.mark.rule("F6.1")
def test_a_mark_that_lies_is_not_believed(tmp_path):
    file = source(tmp_path, "a.txt", b"\xff\xfeabc")  # an odd number of bytes is no UTF-16

    assert detect(file).guessed


@pytest.mark.rule("F6.1")
@pytest.mark.parametrize("shift", [0, 1])
def test_a_sample_that_ends_inside_a_character_rules_nothing_out(tmp_path, shift):
    words = "這是一個測試文件我們今天天氣很好大家好謝謝你們的幫助"
    text = "x" * shift + words + " " + words * 2000

    found = detect(source(tmp_path, "a.txt", text.encode("big5")))

    assert found.name == "big5"
