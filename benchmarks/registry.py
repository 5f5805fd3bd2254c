"""All families of cases. A new one is a module with a ``FAMILY``, and a line here."""

from __future__ import annotations

from . import decoder, dilated_grconv_layer, encoder, grconv_layer, training_step, translation
from .case import Family

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (grconv_layer, dilated_grconv_layer, encoder, decoder, training_step, translation)
}
