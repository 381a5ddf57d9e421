"""Values as the text form has them, with the parentheses that they need and no others."""

from __future__ import annotations

from typing import Dict, Iterable, List, Tuple

from crease._values import Value, refuse

#: How strongly what was written binds, weakest first: who is weaker than its place needs parentheses.
OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, ATOM = range(8)

#: Deepest nesting that is written; the library allows 100 levels, and Python's own stack not many more.
_DEEPEST = 200

#: How strongly an operation binds, and what its right operand has to: `a - (b - c)` keeps its parentheses.
_BINDS = {
    "+": (SUM, PRODUCT),
    "-": (SUM, PRODUCT),
    "*": (PRODUCT, UNARY),
    "/": (PRODUCT, UNARY),
    "and": (AND, NOT),
    "or": (OR, AND),
}


class Texts:
    """Values as text, where some have names."""

    def __init__(self, names: Dict[int, str]) -> None:
        #: By the identity of a value.
        self.names = names

    def text(self, value: Value, place: int, depth: int = 0) -> str:
        """As the text form has it, where what binds less than ``place`` takes parentheses."""
        if id(value) in self.names:
            return self.names[id(value)]
        if depth > _DEEPEST:
            refuse(f"an expression is nested more than {_DEEPEST} levels deep; name parts of it with `let`")
        text, binds = self._unnamed(value, depth + 1)
        return f"({text})" if binds < place else text

    def _unnamed(self, value: Value, depth: int) -> Tuple[str, int]:
        operation, operands = value.operation, value.operands
        if operation == "number":
            return value.label, UNARY if value.label.startswith("-") else ATOM
        if operation == "name":
            return value.label, ATOM
        if operation == "index":
            return f"index({value.label})", ATOM
        if operation == "let":
            return self._unnamed(operands[0], depth)
        if operation == "lookup":
            indices = (f"clamp({self.text(part, OR, depth)})" for part in operands)
            return value.label.format(*indices), ATOM
        if operation == "call":
            return f"{value.label}({', '.join(self.text(part, OR, depth) for part in operands)})", ATOM
        if operation == "neg":
            return f"-{self.text(operands[0], ATOM, depth)}", UNARY
        if operation == "not":
            return f"not {self.text(operands[0], COMPARE, depth)}", NOT
        binds, right = _BINDS.get(operation, (COMPARE, SUM))
        left = binds if operation in _BINDS else SUM
        return f"{self.text(operands[0], left, depth)} {operation} {self.text(operands[1], right, depth)}", binds


def in_order(values: Iterable[Value]) -> Tuple[List[Value], Dict[int, int]]:
    """All values that these are made of, each once and behind its operands, and how often each is used."""
    order: List[Value] = []
    uses: Dict[int, int] = {}
    pending: List[Tuple[Value, bool]] = [(value, False) for value in reversed(list(values))]
    while pending:
        value, is_done = pending.pop()
        if is_done:
            order.append(value)
            continue
        uses[id(value)] = uses.get(id(value), 0) + 1
        if uses[id(value)] == 1:
            pending.append((value, True))
            pending.extend((operand, False) for operand in reversed(value.operands))
    return order, uses
