"""French elision and liaison: *l'ami*, *mon amie*, *bel arbre*, *du lait*."""

from __future__ import annotations

import itertools

from ..tree import Node, Tree

_VOWELS = frozenset("aàâæeéèêëiîïoôœuùûyhAÀÂÆEÉÈÊËIÎÏOÔŒUÙÛYH")
_ASPIRATED = ("héros", "hibou", "hérisson", "haricot", "haïku", "hangar", "huit", "onze")


def begins_with_vowel(token: str) -> bool:
    """Whether words elide before the token; an aspirated h, *huit* and *onze* forbid it."""
    return token[0] in _VOWELS and not token.startswith(_ASPIRATED)


def apply_liaison(tree: Tree) -> None:
    """Changes each leaf that has a form for use before vowels, where a vowel follows."""
    leaves = list(tree.leaves())
    for leaf, following in itertools.pairwise(leaves):
        # si elides before il and ils alone
        elides = following.token in ("il", "ils") if leaf.token == "si" else begins_with_vowel(following.token)
        if leaf.liaison and elides:
            leaf.token = leaf.liaison


def contract(node: Node, preposition: str, anchors: tuple) -> bool:
    """Fuses *de* or *à* with the definite article that begins the phrase, if one does: *du*, *aux*.

    Returns:
        Whether the first leaf now holds the preposition, with its anchors added.
    """
    leaves = node.leaves()
    article, following = next(leaves), next(leaves, None)
    if article.label != "DET" or article.token not in ("le", "les") or following is None:
        return False
    if article.token == "le" and begins_with_vowel(following.token):
        return False
    plural = article.token == "les"
    article.token = {"de": "des" if plural else "du", "à": "aux" if plural else "au"}[preposition]
    article.label, article.liaison, article.anchors = "ADP", None, article.anchors + anchors
    return True
