"""Prints a block as JSON, with what flatc makes of block.fbs and nothing else."""
import json
import sys

from fb.Block import Block


def rows(n, at, *fields):
    return [{f.lower(): getattr(at(i), f)() for f in fields} for i in range(n)]


with open(sys.argv[1], "rb") as file:
    b = Block.GetRootAs(file.read())
print(json.dumps({
    "words": rows(b.WordsLength(), b.Words, "Norm", "Term"),
    "folds": [b.Folds(i) for i in range(b.FoldsLength())],
    "groups": rows(b.GroupsLength(), b.Groups, "Key", "Flags", "Id", "Campaign", "Advertiser", "Factor"),
    "modifiers": rows(b.ModifiersLength(), b.Modifiers, "Desktop", "Mobile", "Tablet"),
    "postings": rows(b.PostingsLength(), b.Postings, "First", "Words", "Group", "Type", "Quality", "Flags", "Keyword", "Bid"),
    "references": [b.References(i) for i in range(b.ReferencesLength())],
    "bound": {"own": b.Bound().Own(), "inherited": b.Bound().Inherited()},
    "live": b.Live(),
}))
