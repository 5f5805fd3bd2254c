import pytest

from recurrent_mt.report.page import ENTRY, FILES, read
from recurrent_mt.report.scripts import join_modules

MODULES = {
    "page.js": 'import { one, two } from "./numbers.js";\nimport { say } from "./speech.js";\nsay(one + two);\n',
    "speech.js": 'import { one } from "./numbers.js";\nexport function say(text) {\n  console.log(text, one);\n}\n',
    "numbers.js": "export const one = 1;\nexport const two = 2;\n",
}


def test_modules_stand_after_those_that_they_import():
    assert join_modules(MODULES, "page.js") == (
        "const one = 1;\nconst two = 2;\n\nfunction say(text) {\n  console.log(text, one);\n}\n\nsay(one + two);\n"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"numbers.js": "export const one = 1;\n"}, "page.js imports two from numbers.js, which does not export it"),
        ({"numbers.js": "const two = 2;\nexport const one = 1;\n"}, "page.js imports two"),
        ({"numbers.js": None}, "page.js imports one, two from numbers.js"),
        ({"speech.js": "const one = 3;\nexport function say() {}\n"}, "numbers.js and speech.js both declare one"),
        ({"speech.js": "export default say;\n"}, "page.js imports say"),
        ({"numbers.js": "export const one = 1;\nexport const two = 2;\nexport { one as three };\n"}, "cannot join"),
        (
            {"numbers.js": 'import { say } from "./speech.js";\n' + MODULES["numbers.js"]},
            "numbers.js → speech.js → ",
        ),
    ],
)
def test_what_cannot_be_joined_is_named(changes, message):
    modules = {name: text for name, text in {**MODULES, **changes}.items() if text is not None}
    with pytest.raises(ValueError, match=message):
        join_modules(modules, "page.js")


def test_every_file_of_the_page_is_used():
    modules = {path.name: read(path.name) for path in FILES.glob("*.js")}
    joined = join_modules(modules, ENTRY)
    for name, text in modules.items():
        assert text.strip().splitlines()[-1] in joined, name
