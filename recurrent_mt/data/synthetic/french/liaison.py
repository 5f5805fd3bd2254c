"""French elision and liaison: *l'ami*, *mon amie*, *bel arbre*, *du lait*."""

from __future__ import annotations

from ..tree import Anchor, Node

_VOWELS = frozenset("aàâæeéèêëiîïoôœuùûyhAÀÂÆEÉÈÊËIÎÏOÔŒUÙÛYH")
_ASPIRATED = ("héros", "hibou", "hérisson", "haricot", "haïku", "hangar", "huit", "onze")


def begins_with_vowel(token: str) -> bool:
    """Whether words elide before the token; an aspirated h, *huit* and *onze* forbid it."""
    return token[0] in _VOWELS and not token.startswith(_ASPIRATED)


def contract(node: Node, preposition: str, anchor: Anchor) -> bool:
    """Fuses *de* or *à* with the definite article that begins the phrase, if one does: *du*, *aux*.

    Returns:
        Whether the first leaf now holds the preposition, with its anchor added.
    """
    leaves = node.leaves()
    article, following = next(leaves), next(leaves, None)
    if article.label != "DET" or article.token not in ("le", "les") or following is None:
        return False
    if article.token == "le" and begins_with_vowel(following.token):
        return False
    plural = article.token == "les"
    article.token = {"de": "des" if plural else "du", "à": "aux" if plural else "au"}[preposition]
    article.label, article.liaison, article.anchors = "ADP", None, (*article.anchors, anchor)
    return True
