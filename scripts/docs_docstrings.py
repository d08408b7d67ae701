"""An extension of griffe, which reads the docstrings for the reference: examples become blocks of code, and names of the
package become links."""

import re

import griffe

COMPILED = {"Error", "InputError", "NotFoundError", "Refused"}  # described at the end of the page
ROLE = re.compile(r":(?:meth|func|class|attr):`([\w.]+)`")


def fenced(text: str) -> str:
    """Examples, from >>> to the next empty line, as blocks of code."""
    parts = re.split(r"\n\s*\n", text)
    return "\n\n".join(f"```pycon\n{part.strip()}\n```" if part.lstrip().startswith(">>>") else part for part in parts)


class Docstrings(griffe.Extension):
    def on_object(self, *, obj, **_):
        if obj.docstring is None:
            return
        owner = obj if obj.is_class else obj.parent

        def link(role: re.Match[str]) -> str:
            name = role[1]
            if name in COMPILED:
                return f"[`{name}`][residua.errors]"
            is_member = owner is not None and owner.is_class and name in owner.members
            return f"[`{name}`][residua.{owner.name + '.' if is_member else ''}{name}]"

        obj.docstring.value = fenced(ROLE.sub(link, obj.docstring.value))
