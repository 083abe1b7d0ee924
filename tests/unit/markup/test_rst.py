from hopweave.markup.rst import read_rst

TEXT = """\
PEP: 8001
Title: Voting
Status: Final
Superseded-By: 8002

.. _top:

Voting
======

See :pep:`13`, :pep:`the vote <8000#ballot>`, :doc:`crew list <ships/crew>`, :ref:`top`, :class:`~a.Skua`,
`Harris <harris.html#port>`_ and Lewis_ [1]_.

.. _Lewis: lewis.rst

.. a comment

.. rejected:: by the council

.. unknown-thing:: Mind the gap
   :option: x

   Text of :term:`it`.

.. code-block:: python

   # no heading

::

   literal

====  =====
Ship  Built
====  =====
Skua  1974
====  =====

- one
- two

.. [1] A note.

.. include:: /etc/passwd

.. raw:: html

   <b>raw</b>
"""


def test_a_document():
    page = read_rst(TEXT)
    assert page.title == "PEP 8001 – Voting"
    assert page.front["superseded-by"] == "8002"
    shown = [block.text for block in page.blocks]
    assert shown[0].startswith("Pep: 8001\nTitle: Voting\nStatus: Final")
    assert shown[1:3] == [
        "# Voting",
        "See PEP 13, the vote, crew list, top, `a.Skua`, Harris and Lewis [1].",
    ]
    assert "by the council" in shown
    assert "Text of it." in shown
    assert "```python\n# no heading\n```" in shown
    assert "| Ship | Built |\n| --- | --- |\n| Skua | 1974 |" in shown
    assert shown.count("- one") == 1
    everything = "\n".join(shown)
    assert not any(hidden in everything for hidden in ("a comment", "root:", "raw", ":option:", ":pep:"))


def test_links_and_anchors():
    page = read_rst(TEXT)
    assert [(link.target, link.anchor) for link in page.links] == [
        ("pep:13", ""),
        ("pep:8000", "ballot"),
        ("ships/crew", ""),
        ("ref:top", ""),
        ("harris.html", "port"),
        ("lewis.rst", ""),
        ("term:it", ""),
    ]
    assert {"top", "ref:top", "voting"} <= set(page.blocks[1].anchors)


def test_text_that_is_broken_is_read_as_far_as_it_goes():
    assert read_rst("*open\n\n====\nA\n==\n\n`b` |c| d_").blocks
    assert read_rst("").blocks == ()
